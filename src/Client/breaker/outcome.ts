/**
 * What the end of a call over HTTP tells about the upstream.
 */
import * as Cause from "effect/Cause"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { CircuitOpenError, RequestHandlingException, wasAnswered } from "../ClientError.ts"
import type { Outcome } from "./circuit.ts"

/**
 * Answers of 5xx and failures of the network count as failures, other answers don't, whatever their body is. A call that was
 * not sent tells nothing. Any other error is one of the code that reads an answer of 2xx.
 */
export const outcomeOfCall = (exit: Exit.Exit<unknown, unknown>): Outcome => {
  if (exit._tag === "Success") return "Success"
  const failed = Cause.findErrorOption(exit.cause)
  if (Option.isNone(failed) || failed.value instanceof CircuitOpenError) return "Unknown"
  const error = failed.value
  if (!(error instanceof RequestHandlingException)) return "Success"
  switch (error.reason) {
    case "Status":
      return outcomeOfStatus(error.statusCode)
    case "Refused":
    case "Unreachable":
    case "Reset":
    case "Dns":
    case "Tls":
    case "Timeout":
      return "Failure"
    case "InvalidAnswer":
      return wasAnswered(error) ? "Success" : "Failure"
    case "TooManyRedirects":
    case "NotRepeatable":
      return "Rejected"
    case "InvalidRequest":
    case "PoolTimeout":
    case "PoolFull":
    case "TooManyFiles":
    case "Closed":
      return "Unknown"
  }
}

/**
 * What the head of an answer tells, whatever its body is.
 *
 * @internal
 */
export const outcomeOfStatus = (status: number): Outcome =>
  status >= 500 ? "Failure" : status >= 200 && status < 300 ? "Success" : "Rejected"
