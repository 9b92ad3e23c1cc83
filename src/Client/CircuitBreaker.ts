/**
 * Stops calls to a service that does not work, so that callers fail at once and the service can recover.
 *
 * **Details**
 *
 * | State | Trigger | Next state |
 * |---|---|---|
 * | `Closed`, the first one | a call fails, and fewer than `failureThreshold` failed in a row | `Closed` |
 * | `Closed` | a call fails, and `failureThreshold` failed in a row | `Open` |
 * | `Closed` | a call succeeds, and failures in a row start from zero | `Closed` |
 * | `Closed` | a call is rejected by the service, which is not counted | `Closed` |
 * | `Open` | any call, which fails with `CircuitOpenError` and does not run | `Open` |
 * | `Open` | `recoveryTimeout` has elapsed | `HalfOpen` |
 * | `HalfOpen` | more calls at once than `halfOpenMaxCalls`, which fail with `CircuitOpenError` | `HalfOpen` |
 * | `HalfOpen` | a call succeeds, or is rejected by the service | `Closed` |
 * | `HalfOpen` | a call fails | `Open` |
 *
 * Each transition is published by `transitions`, counted by the metric `circuit_breaker.transitions` with the attributes
 * `circuit_breaker.name`, `from` and `to`, and logged: as a warning when the circuit opens, otherwise as information.
 *
 * **Gotchas**
 *
 * - A call that began before a transition does not count after it.
 * - Failures in a row are counted in the order in which calls end.
 * - The state is in the memory of the process. Other processes have their own.
 * - An interrupted call tells nothing, so `Effect.timeout` around the breaker does not count as a failure. Within it, it does.
 *
 * @since 0.1.0
 */
import { monotonicMillis } from "@appkernel/document-store/internal"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as MutableRef from "effect/MutableRef"
import * as PubSub from "effect/PubSub"
import * as Ref from "effect/Ref"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Take from "effect/Take"
import { DeclarationError } from "../internal/declarationError.ts"
import { Admission, type AdmissionGate, type Refusable, refusalOf } from "./breaker/admission.ts"
import * as Circuit from "./breaker/circuit.ts"
import type { CircuitOpenError } from "./ClientError.ts"

/**
 * When a circuit breaker opens and closes.
 *
 * @category models
 * @since 0.1.0
 */
export interface CircuitBreakerConfig {
  /** The number of calls that fail in a row until it opens. Defaults to 5. */
  readonly failureThreshold?: number | undefined
  /** The time until an open breaker lets probes through. Defaults to 30 seconds. */
  readonly recoveryTimeout?: Duration.Input | undefined
  /** The number of probes at once. Defaults to 1. */
  readonly halfOpenMaxCalls?: number | undefined
}

/**
 * Options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends CircuitBreakerConfig {
  /** The name of the service that is called, for errors, logs and metrics. */
  readonly name: string
}

/**
 * The state of a circuit breaker. `failures` is the number of calls that failed in a row, `retryAfter` the time until it is
 * half open, and `probes` the number of probes that run.
 *
 * @category models
 * @since 0.1.0
 */
export type State =
  | { readonly _tag: "Closed"; readonly failures: number }
  | { readonly _tag: "Open"; readonly retryAfter: Duration.Duration }
  | { readonly _tag: "HalfOpen"; readonly probes: number }

/**
 * A change of the state of the breaker with this name.
 *
 * @category models
 * @since 0.1.0
 */
export interface Transition {
  readonly name: string
  readonly from: State["_tag"]
  readonly to: State["_tag"]
}

/**
 * A circuit breaker of one service.
 *
 * @category models
 * @since 0.1.0
 */
export interface CircuitBreaker {
  /** The name of the service that is called. */
  readonly name: string
  /**
   * Runs a call unless the breaker refuses it: then it fails with `CircuitOpenError`, and nothing runs. `outcomeOf` says what
   * the exit of the call tells about the service; the default is {@link outcomeOfExit}.
   */
  readonly run: <A, E, R>(
    call: Effect.Effect<A, E, R>,
    outcomeOf?: (exit: Exit.Exit<A, E>) => Outcome
  ) => Effect.Effect<A, E | CircuitOpenError, R>
  /**
   * {@link run} for calls that go on long after the service has answered, such as downloads. The call gets an effect to run at
   * the answer: it closes a half open breaker, so that others need not wait for the end. A closed breaker counts the call at its
   * end.
   */
  readonly runAnswering: <A, E, R>(
    call: (answered: Effect.Effect<void>) => Effect.Effect<A, E, R>,
    outcomeOf?: (exit: Exit.Exit<A, E>) => Outcome
  ) => Effect.Effect<A, E | CircuitOpenError, R>
  /** Fails with `CircuitOpenError` if a call would be refused now. It takes no place of a probe. */
  readonly check: Effect.Effect<void, CircuitOpenError>
  /** The state now. */
  readonly state: Effect.Effect<State>
  /**
   * The transitions from the subscription on, in their order. The stream ends when the scope of the breaker closes. Subscribers
   * that don't read keep transitions in memory.
   */
  readonly transitions: Stream.Stream<Transition>
  /** @internal */
  readonly calls: GuardedCalls
}

/** What calls of a client use: refusals name the service of the call. @internal */
export interface GuardedCalls {
  /** {@link CircuitBreaker.runAnswering} of a call that asks before it is sent, and may wait for that. */
  readonly run: <A, E, R>(
    upstreamService: string,
    call: (admission: Admission) => Effect.Effect<A, E, R>,
    outcomeOf: (exit: Exit.Exit<A, E>, admission: Admission) => Outcome
  ) => Effect.Effect<A, E | CircuitOpenError, R>
  /** {@link CircuitBreaker.check} */
  readonly check: (upstreamService: string) => Effect.Effect<void, CircuitOpenError>
}

/**
 * What an exit tells about the service, if nothing else is said: a success is a `Success`, an error a `Failure`, and an
 * interruption or a defect is `Unknown`.
 *
 * @category outcomes
 * @since 0.1.0
 */
export const outcomeOfExit = (exit: Exit.Exit<unknown, unknown>): Outcome =>
  Exit.isSuccess(exit) ? "Success" : Exit.hasFails(exit) ? "Failure" : "Unknown"

/**
 * A closed circuit breaker. It may be used after its scope is closed; then `transitions` is empty.
 *
 * A threshold or a number of probes that is not an integer from 1, or a timeout that is not finite, is a defect.
 *
 * **Example** (A service that does not work)
 *
 * ```ts
 * import { CircuitBreaker } from "appkernel"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "payments", failureThreshold: 2 })
 *   const pay = breaker.run(Effect.fail("no answer"))
 *   yield* Effect.ignore(pay)
 *   yield* Effect.ignore(pay)
 *   const { _tag } = yield* breaker.state
 *   const message = yield* pay.pipe(Effect.catchTag("CircuitOpenError", (error) => Effect.succeed(error.message)))
 *   return [_tag, message]
 * })
 *
 * await Effect.runPromise(Effect.scoped(program))
 * // => ["Open", "payments is not called, because too many calls to it failed; try again in 30 s"]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (options: Options) => Effect.Effect<CircuitBreaker, never, Scope.Scope> = Effect.fnUntraced(
  function*({ name, ...config }: Options) {
    const limits = yield* limitsOf(config)
    const scope = yield* Effect.scope
    const ref = yield* Ref.make(Circuit.initial)
    const published = yield* PubSub.unbounded<Take.Take<Transition>>()
    yield* Scope.addFinalizer(scope, PubSub.end(published, Exit.void))

    /** The calls that wait to be sent. */
    const waiting = new Set<Refusable>()
    const refuseWaiting = () => {
      const refused = Array.from(waiting)
      waiting.clear()
      for (const one of refused) one.refuse()
    }

    /** Takes and publishes a transition at once, so that no other fiber comes between. */
    const step = <A, E>(
      take: (circuit: Circuit.Circuit, now: () => number) => readonly [Effect.Effect<A, E>, Circuit.Circuit]
    ): Effect.Effect<A, E> =>
      Effect.withFiber((fiber) => {
        const now = () => monotonicMillis(fiber.getRef(Clock.Clock))
        const before = Ref.getUnsafe(ref)
        const [result, after] = take(Circuit.at(before, now), now)
        if (before === after) return result
        MutableRef.set(ref.ref, after)
        if (before._tag === after._tag) return result
        const transition: Transition = { name, from: before._tag, to: after._tag }
        PubSub.publishUnsafe(published, [transition])
        if (after._tag === "Open") refuseWaiting()
        return Effect.andThen(reported(transition, before, after), result)
      })

    const look = Effect.uninterruptible(
      step((circuit, now) => [Effect.succeed(stateOf(circuit, now)), circuit])
    )

    /** Takes the transition at its time, even if nobody calls. A timer may be early. */
    const recover = (opened: Circuit.Circuit): Effect.Effect<void> =>
      Effect.flatMap(look, (state) =>
        state._tag === "Open" && Ref.getUnsafe(ref) === opened
          ? Effect.andThen(Effect.sleep(state.retryAfter), recover(opened))
          : Effect.void)

    const reported = (transition: Transition, before: Circuit.Circuit, after: Circuit.Circuit) =>
      Effect.all([
        Metric.update(Metric.withAttributes(transitionCount, attributesOf(transition)), 1),
        log(transition, before, limits),
        after._tag === "Open" ? Effect.forkIn(recover(after), scope, { startImmediately: true }) : Effect.void
      ], { discard: true })

    const gate: AdmissionGate = {
      circuit: (now) => Circuit.at(Ref.getUnsafe(ref), now),
      refusal: (circuit, now, upstreamService) => refusalOf(circuit, now, upstreamService, limits),
      answered: (epoch, outcome) =>
        step((circuit, now) => [
          Effect.void,
          circuit._tag === "HalfOpen" ? Circuit.settle(circuit, epoch, outcome, now, limits) : circuit
        ]),
      waiting
    }

    const admit = (upstreamService: string) =>
      step<Admission, CircuitOpenError>((circuit, now) => {
        const admitted = Circuit.admit(circuit, limits)
        return admitted === undefined
          ? [Effect.fail(gate.refusal(circuit, now, upstreamService)), circuit]
          : [Effect.succeed(new Admission(gate, admitted, now, upstreamService)), admitted]
      })

    const check = (upstreamService: string) =>
      Effect.uninterruptible(step<void, CircuitOpenError>((circuit, now) => [
        Circuit.admit(circuit, limits) === undefined
          ? Effect.fail(gate.refusal(circuit, now, upstreamService))
          : Effect.void,
        circuit
      ]))

    const settle = (epoch: number, outcome: Outcome): Effect.Effect<void> =>
      step((circuit, now) => [Effect.void, Circuit.settle(circuit, epoch, outcome, now, limits)])

    const run: GuardedCalls["run"] = (upstreamService, call, outcomeOf) =>
      Effect.acquireUseRelease(
        admit(upstreamService),
        call,
        (admission, exit) =>
          Effect.onError(
            Effect.suspend(() => settle(admission.epoch, outcomeOf(exit, admission))),
            () => settle(admission.epoch, "Unknown")
          )
      )

    const runAnswering: CircuitBreaker["runAnswering"] = (call, outcomeOf = outcomeOfExit) =>
      run(name, (admission) => call(admission.answered("Success")), outcomeOf)

    // Breakers of one name are one series: the last that was made.
    const context = yield* Effect.context<never>()
    const gauge = Metric.registerUnsafe(
      Metric.gauge("circuit_breaker.state", {
        description: "The state of a circuit breaker: 0 closed, 1 half open, 2 open",
        attributes: { "circuit_breaker.name": name }
      }),
      context,
      { get: () => ({ value: stateNumbers[Ref.getUnsafe(ref)._tag] }), update: () => {}, modify: () => {} }
    )
    yield* Scope.addFinalizer(scope, Effect.sync(() => gauge.remove()))

    return {
      name,
      run: (call, outcomeOf) => runAnswering(() => call, outcomeOf),
      runAnswering,
      check: check(name),
      state: look,
      transitions: Stream.fromPubSubTake(published),
      calls: { run, check }
    }
  }
)

export {
  /**
   * What a call over HTTP tells: answers of 5xx and failures of the network are a `Failure`, other answers than 2xx are
   * `Rejected`, and a call that was not sent is `Unknown`. Any other error is one of the code that reads an answer of 2xx,
   * which is a `Success`.
   *
   * @category outcomes
   * @since 0.1.0
   */
  outcomeOfCall
} from "./breaker/circuit.ts"

export {
  /**
   * What a call tells about the service:
   *
   * - `Success`: the service works. Failures in a row start from zero, and a probe closes the circuit.
   * - `Failure`: the service does not work. It is counted, and a probe opens the circuit.
   * - `Rejected`: the service works, but declined this call, such as an answer of 4xx. It is not counted, failures in a row
   *   stay as they are, and a probe closes the circuit.
   * - `Unknown`: nothing, such as a call that was interrupted. It is not counted, and a probe gives its place back.
   *
   * @category outcomes
   * @since 0.1.0
   */
  type Outcome
} from "./breaker/circuit.ts"

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Outcome = Circuit.Outcome

const limitsOf = (
  { failureThreshold = 5, halfOpenMaxCalls = 1, recoveryTimeout = "30 seconds" }: CircuitBreakerConfig
): Effect.Effect<Circuit.CircuitLimits> => {
  const millis = Duration.toMillis(Duration.fromInputUnsafe(recoveryTimeout))
  for (const [key, value] of Object.entries({ failureThreshold, halfOpenMaxCalls })) {
    if (Number.isSafeInteger(value) && value >= 1) continue
    return Effect.die(new DeclarationError(`${key} of a circuit breaker has to be an integer from 1, not ${value}`))
  }
  return Number.isFinite(millis) && millis >= 0
    ? Effect.succeed({ failureThreshold, halfOpenMaxCalls, recoveryTimeout: millis })
    : Effect.die(new DeclarationError("recoveryTimeout of a circuit breaker has to be a finite time"))
}

const stateOf = (circuit: Circuit.Circuit, now: () => number): State => {
  switch (circuit._tag) {
    case "Closed":
      return { _tag: "Closed", failures: circuit.failures }
    case "Open":
      return { _tag: "Open", retryAfter: Duration.millis(circuit.until - now()) }
    case "HalfOpen":
      return { _tag: "HalfOpen", probes: circuit.probes }
  }
}

const stateNumbers = { Closed: 0, HalfOpen: 1, Open: 2 } as const

const transitionCount = Metric.counter("circuit_breaker.transitions", {
  description: "Transitions of circuit breakers",
  incremental: true
})

const attributesOf = ({ from, name, to }: Transition) => ({ "circuit_breaker.name": name, from, to })

const log = (
  transition: Transition,
  before: Circuit.Circuit,
  { failureThreshold, recoveryTimeout }: Circuit.CircuitLimits
): Effect.Effect<void> => {
  const refused = `calls are refused for ${Duration.format(Duration.millis(recoveryTimeout))}`
  const failedCalls = failureThreshold === 1 ? "A call" : `${failureThreshold} calls in a row`
  const message = {
    Closed: `${transition.name} works again: its circuit breaker is closed`,
    HalfOpen: `The circuit breaker of ${transition.name} is half open: the next calls are probes`,
    Open: before._tag === "HalfOpen"
      ? `A probe of ${transition.name} failed: its circuit breaker is open, ${refused}`
      : `${failedCalls} to ${transition.name} failed: its circuit breaker is open, ${refused}`
  }[transition.to]
  const logged = transition.to === "Open" ? Effect.logWarning(message) : Effect.logInfo(message)
  return Effect.annotateLogs(logged, attributesOf(transition))
}
