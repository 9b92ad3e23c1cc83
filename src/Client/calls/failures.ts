/** What went wrong on the way to a service and back, from the errors of undici, Node and OpenSSL. */
import { Unreadable } from "../../internal/readOnce.ts"
import { markAnswered, type Reason, RequestHandlingException } from "../ClientError.ts"

/** Why a call has no answer. */
export type Unanswered = Exclude<Reason["_tag"], "Status">

/** A failure without a status of the service. */
export const failure = (upstreamService: string, reason: Unanswered, what: string): RequestHandlingException =>
  new RequestHandlingException({ message: `${upstreamService} ${what}`, upstreamService, reason: { _tag: reason } })

/** The failure that corresponds to an error of undici. */
export const failureOf = (upstreamService: string, error: unknown): RequestHandlingException =>
  error instanceof Unreadable
    ? failure(upstreamService, "InvalidRequest", "did not get the whole payload, whose stream failed")
    : failureBy(upstreamService, reasonOf(error))

/** The failure for a reason, with its general message. */
export const failureBy = (upstreamService: string, reason: Unanswered): RequestHandlingException =>
  failure(upstreamService, reason, sentences[reason])

/** The failure of a whole answer of 2xx whose body can't be used. */
export const unusable = (upstreamService: string, what: string): RequestHandlingException =>
  markAnswered(failure(upstreamService, "InvalidAnswer", what))

/** Notes that nothing of the request was sent before the failure: there was no connection. */
export const markUnsent = (error: RequestHandlingException): void => void unsent.add(error)

/** Notes that a service had got the request before the failure, whatever its reason: the service redirected it. */
export const markSent = (error: object): void => void unsent.delete(error)

export const wasSent = (error: RequestHandlingException): boolean => !unsent.has(error)

const unsent = new WeakSet()

const sentences: { readonly [R in Unanswered]: string } = {
  Refused: "accepts no connections",
  Unreachable: "can't be reached",
  Reset: "closed the connection before its answer was complete",
  Dns: "has a host name without an address",
  Tls: "has no secure connection that is trusted",
  Timeout: "did not answer in time",
  TooManyRedirects: "redirected too often",
  NotRepeatable: "was not called again, since the payload can be read once only",
  InvalidAnswer: "sent no valid answer",
  InvalidRequest: "was not called, since the request is malformed",
  PoolTimeout: "was not called, since no connection was free in time",
  PoolFull: "was not called, since too many calls wait for a connection",
  TooManyFiles: "was not called, since this process or its system has too many open files",
  Closed: "was not called, since the client is shut down"
}

const reasonOf = (error: unknown): Unanswered => {
  // undici fails with this message when an answer arrives without a request.
  if (error instanceof Error && error.message === "bad response") return "InvalidAnswer"
  for (const code of codesOf(error, 4)) {
    const reason = reasons.get(code)
    if (reason !== undefined) return reason
    if (/^(ERR_TLS|ERR_SSL|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO)/u.test(code) || code.includes("CERT")) return "Tls"
  }
  return "Reset"
}

/** The codes and names of an error, of its parts and of its causes. */
function* codesOf(error: unknown, depth: number): Generator<string> {
  if (typeof error !== "object" || error === null || depth === 0) return
  if ("code" in error && typeof error.code === "string") yield error.code
  if ("name" in error && typeof error.name === "string") yield error.name
  if ("errors" in error && Array.isArray(error.errors)) {
    for (const part of error.errors) yield* codesOf(part, depth - 1)
  }
  if ("cause" in error) yield* codesOf(error.cause, depth - 1)
}

const reasons: ReadonlyMap<string, Unanswered> = new Map<string, Unanswered>([
  ["ECONNREFUSED", "Refused"],
  ["ENOENT", "Refused"],
  ["EHOSTUNREACH", "Unreachable"],
  ["ENETUNREACH", "Unreachable"],
  ["EADDRNOTAVAIL", "Unreachable"],
  ["EACCES", "Unreachable"],
  ["EMFILE", "TooManyFiles"],
  ["ENFILE", "TooManyFiles"],
  ["ENOTFOUND", "Dns"],
  ["EAI_AGAIN", "Dns"],
  ["EAI_FAIL", "Dns"],
  ["ECONNRESET", "Reset"],
  ["EPIPE", "Reset"],
  ["UND_ERR_SOCKET", "Reset"],
  ["EPROTO", "Tls"],
  ["ETIMEDOUT", "Timeout"],
  ["UND_ERR_CONNECT_TIMEOUT", "Timeout"],
  ["UND_ERR_HEADERS_TIMEOUT", "Timeout"],
  ["UND_ERR_BODY_TIMEOUT", "Timeout"],
  ["HTTPParserError", "InvalidAnswer"],
  ["UND_ERR_HEADERS_OVERFLOW", "InvalidAnswer"],
  ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "InvalidAnswer"],
  ["UND_ERR_RES_EXCEEDED_MAX_SIZE", "InvalidAnswer"],
  ["ReadOnce", "NotRepeatable"],
  ["UND_ERR_REQ_CONTENT_LENGTH_MISMATCH", "InvalidRequest"],
  ["UND_ERR_INVALID_ARG", "InvalidRequest"],
  ["UND_ERR_NOT_SUPPORTED", "InvalidRequest"],
  ["UND_ERR_DESTROYED", "Closed"],
  ["UND_ERR_CLOSED", "Closed"]
])
