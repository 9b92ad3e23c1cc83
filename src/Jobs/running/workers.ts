/** Does jobs: as many at a time as each allows, until the service stops, which gives those that run some time. */
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Function from "effect/Function"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as PersistedQueue from "effect/persistence/PersistedQueue"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import { DeclarationError } from "../../internal/declarationError.ts"
import { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { StoreError } from "../../Repository/RepositoryError.ts"
import type { Any, Described, Failure } from "../queue/description.ts"
import { type Element, queueOf } from "../queue/jobQueue.ts"
import { makeQueueStore } from "../queue/storedQueue.ts"
import { measureQueues } from "./measures.ts"

/** How jobs are done. */
export interface RunOptions {
  /** The time that running jobs have when the service stops. */
  readonly grace: Duration.Input
  /** How long a job is known after its end. */
  readonly keep: Duration.Input
  /** How long a process has a job without a sign of life. */
  readonly lock: Duration.Input
  /** Whether the numbers of waiting jobs are counted again and again. */
  readonly isMeasured: boolean
  /**
   * Runs an effect with the rights that a user has now, of roles only those that are among some; `undefined` where no accounts are
   * known.
   */
  readonly asSubject:
    | ((
      subject: string,
      work: Effect.Effect<unknown, Failure>,
      among: ReadonlyArray<string> | undefined
    ) => Effect.Effect<unknown, Failure>)
    | undefined
}

/** Does jobs with the services of its fiber, until the scope closes. */
export const runJobs = Effect.fnUntraced(function*(
  implementations: ReadonlyArray<Any>,
  options: RunOptions
): Effect.fn.Return<void, StoreError, DocumentStore | Scope.Scope> {
  const names = implementations.map(({ job }) => job.name)
  const wrong = names.find((name, i) => names.indexOf(name) < i)
  if (wrong !== undefined) return yield* Effect.die(new DeclarationError(`Two jobs have the name ${wrong}`))
  const store = yield* DocumentStore
  const port = yield* makeQueueStore(store, options)
  const cleanup = PersistedQueue.layerCleanup({ timeToLive: options.keep })
  yield* Layer.build(Layer.provide(cleanup, Layer.succeed(PersistedQueue.PersistedQueueStore, port)))
  if (options.isMeasured) yield* measureQueues(store, names)
  const workers: Array<Worker> = []
  // It alone ends them: their scope would wait for one that can't be interrupted.
  yield* Effect.addFinalizer(() =>
    Effect.forEach(workers, (worker) => stop(worker, options), { concurrency: "unbounded" })
  )
  for (const implementation of implementations) {
    const described = implementation.job["~appkernel/Job"]
    if (described.options.runAs === "subject" && options.asSubject === undefined) {
      return yield* Effect.die(
        new DeclarationError(`The job ${described.name} runs as its subject: provide Accounts, and enable security`)
      )
    }
    const { concurrency = 1, retry: { times = 0 } = {} } = described.options
    if (!Number.isSafeInteger(concurrency) || concurrency < 1 || !(times >= 0)) {
      return yield* Effect.die(
        new DeclarationError(
          `The job ${described.name} has a concurrency or a number of retries that is none`
        )
      )
    }
    const queue = yield* queueOf(port, described)
    for (let i = 0; i < concurrency; i++) {
      const worker: Worker = { job: described.name, isBusy: false, isStopping: false, fiber: undefined }
      const take = queue.take((element, { attempts, id }) => {
        worker.isBusy = true
        return attempted(implementation, element, { id, attempt: attempts }, options, () => worker.isStopping)
      }).pipe(
        Effect.catchIf(
          isOfQueue,
          (error) => Effect.andThen(Effect.logWarning(error.message, error.cause), Effect.sleep("1 second"))
        ),
        // The failure of a job is logged, and stored with it.
        Effect.ignoreCause,
        Effect.ensuring(Effect.sync(() => {
          worker.isBusy = false
        }))
      )
      worker.fiber = yield* Effect.forkDetach(Effect.whileLoop({
        while: () => !worker.isStopping,
        body: () => take,
        step: () => {}
      }))
      workers.push(worker)
    }
  }
})

// internal

const isOfQueue = (error: Failure): error is PersistedQueue.PersistedQueueError =>
  error instanceof PersistedQueue.PersistedQueueError

interface Worker {
  /** The name of the job. */
  readonly job: string
  isBusy: boolean
  isStopping: boolean
  fiber: Fiber.Fiber<void> | undefined
}

/**
 * Interrupts a worker that waits at once, and one that works after the grace: then the job is taken again by the next process. One that
 * goes on nevertheless is left, as a kill would leave it.
 */
const stop = (worker: Worker, { grace }: RunOptions): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { fiber, job } = worker
    if (fiber === undefined) return Effect.void
    worker.isStopping = true
    if (!worker.isBusy) return Fiber.interrupt(fiber)
    const ended = Effect.timeoutOption(Fiber.await(fiber), grace).pipe(
      Effect.andThen(Effect.sync(() => fiber.interruptUnsafe())),
      Effect.andThen(Effect.timeoutOption(Fiber.await(fiber), interruption))
    )
    return Effect.flatMap(ended, (exit) =>
      Option.isSome(exit)
        ? Effect.void
        : Effect.logWarning(`The service stops beside the job ${job}, which goes on after its interruption`))
  })

/** The time in which interrupted work ends. */
const interruption = "5 seconds"

/** One attempt, with its span, its user, its time, its line in the log and its count. */
const attempted = (
  { job, run }: Any,
  { payload, roles, span, subject }: Element,
  attempt: Parameters<Any["run"]>[1],
  { asSubject }: RunOptions,
  isStopping: () => boolean
): Effect.Effect<unknown, Failure> => {
  const described = job["~appkernel/Job"]
  const { name, options } = described
  // The schema has decoded the payload, and the engine's type says which services are needed.
  const work = Effect.suspend(() => run(payload as never, attempt) as Effect.Effect<unknown, Failure>)
  const timed = options.timeout === undefined ? work : Effect.timeout(work, options.timeout)
  const own = options.runAs !== "subject" || asSubject === undefined
    ? timed
    : subject === undefined
    ? Effect.die(new Error("Nobody has caused the job"))
    : asSubject(subject, timed, roles)
  const attributes = { "job.name": name, "job.id": attempt.id, "job.attempt": attempt.attempt }
  // Nobody has interrupted the worker: what the work waited for was interrupted, and would be again at once.
  const notInterrupted = Effect.catchCause(own, (cause) =>
    Cause.hasInterruptsOnly(cause) && !isStopping()
      ? Effect.die(new Error("The work has waited for what was interrupted"))
      : Effect.failCause(cause))
  return notInterrupted.pipe(
    Effect.onExit((exit) => {
      const outcome = Exit.isSuccess(exit) ? "done" : Cause.hasInterruptsOnly(exit.cause) ? "interrupted" : "failed"
      const counted = Metric.update(attemptsOf(described)[outcome], 1)
      return Exit.isSuccess(exit) || outcome === "interrupted"
        ? counted
        : Effect.andThen(counted, Effect.annotateLogs(Effect.logWarning("A job has failed", exit.cause), attributes))
    }),
    Effect.withSpan(`job ${name}`, {
      kind: "consumer",
      attributes,
      ...(span === undefined ? { root: true } : { parent: Tracer.externalSpan(span) })
    }, { captureStackTrace: false })
  )
}

const attempts = Metric.counter("appkernel.jobs.attempts", {
  description: "Attempts of jobs, by job and outcome",
  incremental: true
})

// Made once for a job.
const attemptsOf = Function.memoize(({ name }: Described) => {
  const of = (outcome: string) => Metric.withAttributes(attempts, { job: name, outcome })
  return { done: of("done"), interrupted: of("interrupted"), failed: of("failed") }
})
