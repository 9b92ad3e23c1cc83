/** The table of the states of a circuit breaker, as a plain program, and random sequences of calls for it. */
import type { CircuitBreaker } from "../../../src/index.ts"

export interface Limits {
  readonly failureThreshold: number
  /** In milliseconds. */
  readonly recoveryTimeout: number
  readonly halfOpenMaxCalls: number
}

/** A call starts, the `of`th of the running calls ends with an outcome, or `of` milliseconds pass. */
export interface Step {
  readonly kind: "start" | "wait" | CircuitBreaker.Outcome
  readonly of: number
}

type Name = CircuitBreaker.State["_tag"]

/** The same for the same seed. */
export const sequenceOf = (seed: number): { readonly limits: Limits; readonly steps: ReadonlyArray<Step> } => {
  const random = randomOf(seed)
  const limits = {
    failureThreshold: 1 + random(3),
    recoveryTimeout: 1 + random(4),
    halfOpenMaxCalls: 1 + random(3)
  }
  const steps = Array.from({ length: 10 + random(40) }, () => ({ kind: kinds[random(kinds.length)]!, of: random(4) }))
  return { limits, steps }
}

const kinds = [
  "start",
  "start",
  "start",
  "wait",
  "wait",
  "Success",
  "Failure",
  "Failure",
  "Rejected",
  "Unknown"
] as const

/** Integers below a limit, by mulberry32. */
const randomOf = (seed: number) => {
  let state = seed
  return (limit: number): number => {
    state = state + 0x6d2b79f5 | 0
    let mixed = Math.imul(state ^ state >>> 15, 1 | state)
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed
    return ((mixed ^ mixed >>> 14) >>> 0) % limit
  }
}

export const breakerTable = ({ failureThreshold, halfOpenMaxCalls, recoveryTimeout }: Limits) => {
  let now = 0
  let state: Name = "Closed"
  let failures = 0
  let openedAt = 0
  /** The calls that count: those that began in this state. */
  const counted = new Set<number>()
  const transitions: Array<{ readonly from: Name; readonly to: Name }> = []
  const enter = (next: Name): void => {
    transitions.push({ from: state, to: next })
    state = next
    failures = 0
    counted.clear()
    if (next === "Open") openedAt = now
  }
  return {
    transitions,
    get state() {
      return state
    },
    /** The time that it is still open, or the failures in a row while closed, or the probes while half open. */
    get number() {
      if (state === "Open") return openedAt + recoveryTimeout - now
      return state === "Closed" ? failures : counted.size
    },
    pass: (millis: number): void => {
      now += millis
      if (state === "Open" && now - openedAt >= recoveryTimeout) enter("HalfOpen")
    },
    /** Whether the call runs. */
    start: (call: number): boolean => {
      if (state === "Open" || state === "HalfOpen" && counted.size === halfOpenMaxCalls) return false
      counted.add(call)
      return true
    },
    end: (call: number, outcome: CircuitBreaker.Outcome): void => {
      if (!counted.delete(call) || outcome === "Unknown") return
      if (state === "HalfOpen") return enter(outcome === "Failure" ? "Open" : "Closed")
      if (outcome === "Success") failures = 0
      if (outcome !== "Failure") return
      failures++
      if (failures === failureThreshold) enter("Open")
    }
  }
}
