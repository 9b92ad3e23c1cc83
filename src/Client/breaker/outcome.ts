/**
 * What the end of a call over HTTP tells about the upstream.
 */
import * as Cause from "effect/Cause"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { type CircuitOpenError, RequestHandlingException } from "../ClientError.ts"
import type { Outcome } from "./circuit.ts"

/**
 * Answers of 5xx and failures of the network count as failures, other answers don't. A call that was not sent tells nothing.
 *
 * @internal
 */
export const outcomeOfCall = (exit: Exit.Exit<unknown, RequestHandlingException | CircuitOpenError>): Outcome => {
  if (exit._tag === "Success") return "Success"
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  if (!(error instanceof RequestHandlingException)) return "Unknown"
  switch (error.reason) {
    case "Status":
      return error.statusCode >= 500 ? "Failure" : "Rejected"
    case "Refused":
    case "Unreachable":
    case "Reset":
    case "Dns":
    case "Tls":
    case "Timeout":
    case "InvalidAnswer":
      return "Failure"
    case "TooManyRedirects":
      return "Rejected"
    case "InvalidRequest":
    case "PoolTimeout":
    case "PoolFull":
    case "Closed":
      return "Unknown"
  }
}
