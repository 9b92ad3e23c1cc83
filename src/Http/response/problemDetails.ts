/** Problem details (RFC 9457), the format of errors for clients that ask for it, or for all clients. */
import * as Context from "effect/Context"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { varyWith } from "../../internal/vary.ts"
import { statusOf } from "../HttpError.ts"
import type { ErrorOptions } from "../KernelConfig.ts"
import { labelFrom } from "../messages/label.ts"
import { accepts } from "../request/accept.ts"

/** The format of error responses. */
export const ErrorFormat: Context.Reference<ErrorOptions> = Context.Reference<ErrorOptions>(
  "appkernel/Http/response/problemDetails/ErrorFormat",
  { defaultValue: () => ({ format: "message", documentation: undefined }) }
)

const problemType = "application/problem+json"

/** Whether a request gets problem details: its `Accept` has to name them. */
export const wantsProblem = (accept: string | undefined, { format }: ErrorOptions): boolean =>
  format === "problem" || (accept?.includes(problemType) === true && accepts(accept, [problemType]))

/** The text of problem details. It also has the members of the `ErrorMessage`. */
export const problemText = (text: string, status: number, { documentation }: ErrorOptions): string => {
  const message: { readonly [member: string]: unknown } = JSON.parse(text)
  const name = nameOf(message, status)
  return JSON.stringify({
    type: documentation === undefined ? "about:blank" : `${documentation}#${name.toLowerCase()}`,
    title: labelFrom(name),
    status,
    detail: message["message"],
    ...message
  })
}

/** The `Vary` of an error whose format depends on the request. */
export const varyOf = (known: string | undefined, { format }: ErrorOptions): { readonly vary?: string } =>
  format === "problem" ? known === undefined ? {} : { vary: known } : { vary: varyWith(known, ["Accept"]) }

/** The response in the format that the request or the configuration asks for. */
export const inErrorFormat = (
  response: HttpServerResponse.HttpServerResponse,
  accept: string | undefined,
  options: ErrorOptions
): HttpServerResponse.HttpServerResponse => {
  const { body, headers, status } = response
  if (body._tag !== "Uint8Array") return response
  const vary = varyOf(headers["vary"], options)
  if (!wantsProblem(accept, options)) return HttpServerResponse.setHeaders(response, vary)
  const text = problemText(new TextDecoder().decode(body.body), status, options)
  return HttpServerResponse.text(text, {
    status,
    contentType: problemType,
    headers: { ...withoutType(headers), ...vary }
  })
}

// internal

/** The name of an error's class: of the service's own error, otherwise of the framework's. */
const nameOf = ({ error, upstream_service }: { readonly [member: string]: unknown }, status: number): string => {
  const own: unknown = Array.isArray(error) ? error[0] : error
  if (typeof own === "string") return own
  return upstream_service === undefined ? namesOf.get(status) ?? "Error" : "UpstreamError"
}

const namesOf: ReadonlyMap<number, string> = new Map(
  Object.entries(statusOf).map(([name, status]) => [status, name])
)

const withoutType = ({ "content-length": _length, "content-type": _type, ...headers }: {
  readonly [name: string]: string
}) => headers
