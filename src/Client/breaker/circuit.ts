/**
 * The states of a circuit breaker and its transitions, as pure functions of the time, and what the end of a call over
 * HTTP tells about the upstream.
 */
import * as Cause from "effect/Cause"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { CircuitOpenError, RequestHandlingException, wasAnswered } from "../ClientError.ts"

/**
 * The epoch changes at each transition. A call belongs to the epoch in which it was admitted, and counts in that one only.
 *
 * @internal
 */
export type Circuit =
  /** `failures` is the number of calls that failed in a row. */
  | { readonly _tag: "Closed"; readonly epoch: number; readonly failures: number }
  /** `until` is the time in milliseconds at which it becomes half open. */
  | { readonly _tag: "Open"; readonly epoch: number; readonly until: number }
  /** `probes` is the number of calls that run. */
  | { readonly _tag: "HalfOpen"; readonly epoch: number; readonly probes: number }

/** @internal */
export interface CircuitLimits {
  readonly failureThreshold: number
  /** In milliseconds. */
  readonly recoveryTimeout: number
  readonly halfOpenMaxCalls: number
}

/**
 * What a call tells about the service that was called:
 *
 * - `Success`: the service works. Failures in a row start from zero, and a probe closes the circuit.
 * - `Failure`: the service does not work. It is counted, and a probe opens the circuit.
 * - `Rejected`: the service works, but declined this call, such as an answer of 4xx. It is not counted as a failure, failures
 *   in a row stay as they are, and a probe closes the circuit.
 * - `Unknown`: nothing, such as a call that was interrupted. It is not counted, and a probe gives its place back.
 */
export type Outcome = "Success" | "Failure" | "Rejected" | "Unknown"

/** @internal */
export const initial: Circuit = { _tag: "Closed", epoch: 0, failures: 0 }

/** The circuit at a time: when its recovery timeout has elapsed, an open circuit is half open. @internal */
export const at = (circuit: Circuit, now: () => number): Circuit =>
  circuit._tag === "Open" && now() >= circuit.until
    ? { _tag: "HalfOpen", epoch: circuit.epoch + 1, probes: 0 }
    : circuit

/** The circuit with one more call, or nothing if it refuses the call. @internal */
export const admit = (circuit: Circuit, { halfOpenMaxCalls }: CircuitLimits): Circuit | undefined => {
  switch (circuit._tag) {
    case "Closed":
      return circuit
    case "Open":
      return undefined
    case "HalfOpen":
      return circuit.probes < halfOpenMaxCalls ? { ...circuit, probes: circuit.probes + 1 } : undefined
  }
}

/** The circuit after a call of an epoch has ended. @internal */
export const settle = (
  circuit: Circuit,
  epoch: number,
  outcome: Outcome,
  now: () => number,
  { failureThreshold, recoveryTimeout }: CircuitLimits
): Circuit => {
  if (circuit.epoch !== epoch || circuit._tag === "Open") return circuit
  const opened = (): Circuit => ({ _tag: "Open", epoch: epoch + 1, until: now() + recoveryTimeout })
  switch (outcome) {
    case "Success":
      return circuit._tag === "HalfOpen" || circuit.failures > 0
        ? { _tag: "Closed", epoch: circuit._tag === "HalfOpen" ? epoch + 1 : epoch, failures: 0 }
        : circuit
    case "Failure":
      if (circuit._tag === "HalfOpen") return opened()
      return circuit.failures + 1 < failureThreshold ? { ...circuit, failures: circuit.failures + 1 } : opened()
    case "Rejected":
      return circuit._tag === "HalfOpen" ? { _tag: "Closed", epoch: epoch + 1, failures: 0 } : circuit
    case "Unknown":
      return circuit._tag === "HalfOpen" ? { ...circuit, probes: circuit.probes - 1 } : circuit
  }
}

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
  switch (error.reason._tag) {
    case "Status":
      return outcomeOfStatus(error.reason.statusCode)
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

/** What the head of an answer tells, whatever its body is. @internal */
export const outcomeOfStatus = (status: number): Outcome =>
  status >= 500 ? "Failure" : status >= 200 && status < 300 ? "Success" : "Rejected"
