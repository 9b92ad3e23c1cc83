/** Calls that a circuit breaker has let in, until they are sent. */
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import { CircuitOpenError } from "../ClientError.ts"
import type * as Circuit from "./circuit.ts"

/** A call that waits to be sent. */
export interface Refusable {
  /** Runs when the breaker opens. */
  readonly refuse: () => void
}

/** What the calls of a breaker share. */
export interface AdmissionGate {
  readonly circuit: (now: () => number) => Circuit.Circuit
  readonly refusal: (circuit: Circuit.Circuit, now: () => number, upstreamService: string) => CircuitOpenError
  /** Notes what the service's answer to a call of an epoch tells, if the circuit is half open. */
  readonly answered: (epoch: number, outcome: Circuit.Outcome) => Effect.Effect<void>
  readonly waiting: Set<Refusable>
}

/** A call that the breaker has let in, for the service with this name. */
export class Admission {
  readonly epoch: number
  /** Whether the call has one of the places of a half open circuit. */
  readonly isProbe: boolean
  readonly #gate: AdmissionGate
  readonly #now: () => number
  readonly #upstreamService: string
  /** Since when the service has had the call, without an answer. */
  #silentSince: number | undefined

  constructor(gate: AdmissionGate, { _tag, epoch }: Circuit.Circuit, now: () => number, upstreamService: string) {
    this.epoch = epoch
    this.isProbe = _tag === "HalfOpen"
    this.#gate = gate
    this.#now = now
    this.#upstreamService = upstreamService
  }

  /**
   * Counts the answer of the service when it begins. If the call is a probe, other calls do not wait for the end of the
   * answer.
   */
  answered(outcome: Circuit.Outcome): Effect.Effect<void> {
    return this.#gate.answered(this.epoch, outcome)
  }

  /** Why the call must not be sent any more: the breaker has opened since it was let in. */
  refusal(): CircuitOpenError | undefined {
    const circuit = this.#gate.circuit(this.#now)
    return circuit.epoch === this.epoch || circuit._tag === "Closed"
      ? undefined
      : this.#gate.refusal(circuit, this.#now, this.#upstreamService)
  }

  /** Tells a call that waits to be sent when the breaker opens, unless it leaves before. */
  wait(self: Refusable): void {
    this.#gate.waiting.add(self)
  }

  leave(self: Refusable): void {
    this.#gate.waiting.delete(self)
  }

  /** The call has a connection: what follows is the time of the service. */
  connected(self: Refusable): void {
    this.leave(self)
    this.#silentSince = this.#now()
  }

  /** The answer has begun. */
  headed(): void {
    this.#silentSince = undefined
  }

  /** Whether a time has come until which the service had at least `millis` and did not begin to answer. */
  wasSilent(until: number, millis: number): boolean {
    // A timer may be a millisecond early.
    return this.#silentSince !== undefined && until - this.#silentSince >= millis && this.#now() >= until - 1
  }
}

/** The failure of a call that is refused. */
export const refusalOf = (
  circuit: Circuit.Circuit,
  now: () => number,
  upstreamService: string,
  { recoveryTimeout }: Circuit.CircuitLimits
): CircuitOpenError =>
  new CircuitOpenError({
    upstreamService,
    retryAfter: Duration.millis(
      circuit._tag === "Open" ? circuit.until - now() : Math.min(probeWait, recoveryTimeout)
    )
  })

// internal

/** The `retryAfter` of a call that is rejected while probes run, in milliseconds. */
const probeWait = 1000
