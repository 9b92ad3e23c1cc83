/**
 * Work that follows from a write: stored with it, and done afterwards by whichever process of the service has time, again if it
 * fails, and also after the process was killed.
 *
 * **Details**
 *
 * `make` describes a job, `implement` says how it is done, and `KernelEngine.register` lets a service do it. `enqueue` is one write
 * of the store: within `Repository.transaction`, a transactional hook or an action, the job is committed with everything else, or
 * never was. A job is done at least once: a process that is killed between the end of the work and the note of it leaves a job that
 * is done again. So work tells others the `id`, which is the same each time.
 *
 * The queue is Effect's `PersistedQueue`, and its records are documents of the model {@link Queued}.
 *
 * **Example** (A receipt for each order)
 *
 * ```ts
 * import { DocumentStore, EmbeddedStore, Job, Repository } from "appkernel"
 * import { Effect, Schema } from "effect"
 *
 * const SendReceipt = Job.make("send-receipt", { payload: { order: Schema.String } })
 *
 * const sending = SendReceipt.implement(({ order }, { id }) => Effect.logInfo(`The receipt ${id} of ${order}`))
 *
 * const program = Effect.gen(function*() {
 *   yield* Effect.flip(Repository.transaction(Effect.andThen(SendReceipt.enqueue({ order: "O1" }), Effect.fail("no"))))
 *   yield* Repository.transaction(SendReceipt.enqueue({ order: "O2" }))
 *   const store = yield* DocumentStore.DocumentStore
 *   return [sending.job.name, yield* store.count("QueuedJob", {})]
 * })
 *
 * await Effect.runPromise(Effect.provide(program, EmbeddedStore.layerMemory)) // => ["send-receipt", 1]
 * ```
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Model from "../Model/Model.ts"
import type { ModelError } from "../Model/ModelError.ts"
import { DocumentStore } from "../Repository/DocumentStore.ts"
import type {
  BulkInsertFailed,
  DocumentInvalid,
  DocumentNotFound,
  DocumentReferenced,
  StoreError,
  VersionConflict,
  WriteError
} from "../Repository/RepositoryError.ts"
import type { Attempt, Described, EnqueueOptions, WorkOptions } from "./queue/description.ts"
import type * as JobQueue from "./queue/jobQueue.ts"

export type {
  Any,
  Attempt,
  CronOptions,
  Described,
  EnqueueOptions,
  Schedule,
  WorkOptions
} from "./queue/description.ts"

/**
 * The options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<Payload extends Schema.Struct.Fields, Failure extends Schema.Top = Schema.Never>
  extends WorkOptions
{
  /** What the work has to know. */
  readonly payload: Payload
  /** How the work may fail besides the failures of repositories. Each failure is tried again. Defaults to no other way. */
  readonly error?: Failure | undefined
}

/**
 * The failures of repositories, which a job need not declare.
 *
 * @category errors
 * @since 0.1.0
 */
export type RepositoryFailure =
  | WriteError
  | ModelError
  | BulkInsertFailed
  | DocumentInvalid
  | DocumentNotFound
  | DocumentReferenced
  | VersionConflict

/**
 * The description of a job.
 *
 * @category models
 * @since 0.1.0
 */
export interface Job<Name extends string, Payload, Failure> {
  readonly name: Name
  /** Stores a job, in the transaction that there is. */
  readonly enqueue: (payload: Payload, options?: EnqueueOptions) => Effect.Effect<void, StoreError, DocumentStore>
  /** Says how the job is done. */
  readonly implement: <R>(
    run: (payload: Payload, attempt: Attempt) => Effect.Effect<unknown, Failure | RepositoryFailure, R>
  ) => Implementation<Name, Payload, Failure, R>
  /** The schema of the payload, and the options. */
  readonly "~appkernel/Job": Described
}

/**
 * How a job is done: for `KernelEngine.register`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Implementation<Name extends string, Payload, Failure, R> {
  readonly _tag: "JobImplementation"
  readonly job: Job<Name, Payload, Failure>
  readonly run: (payload: Payload, attempt: Attempt) => Effect.Effect<unknown, Failure | RepositoryFailure, R>
}

/**
 * A job in the store, for resources and repositories: a read-only view, whose writes are {@link retry} and {@link discard}.
 *
 * **Example** (Jobs over HTTP, for administrators)
 *
 * ```ts check
 * import { Job, KernelEngine, Resource, Role } from "appkernel"
 * import { Schema } from "effect"
 *
 * const Jobs = Resource.make(Job.Queued, { methods: ["GET"] })
 *   .grant(Role("admin"), { methods: ["GET"], hide: ["element"] })
 *   .action("retry", { method: "POST", success: Schema.Boolean, require: Role("admin") }, ({ id }) => Job.retry(id))
 *
 * const engine = KernelEngine.make("shop").register(Jobs, { segment: "jobs" })
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export class Queued extends Model.Class<Queued>()("QueuedJob", {
  id: Schema.String,
  /** The name of the job. */
  queue: Schema.String,
  /** The key, or the identifier that was made for the job. */
  key: Schema.String,
  /** The payload and who caused the job, as a JSON text. Hide it from those who may not see all that jobs know. */
  element: Schema.String,
  /** `waiting` for its time, `running`, `done`, or `dead` after the last attempt has failed. */
  state: Schema.Literals(["waiting", "running", "done", "dead"]),
  /** How many attempts have begun. */
  attempts: Schema.Int,
  created: Model.DateTime,
  /** When it may be taken; while it runs, the time until which its process has it. */
  due: Model.DateTime.pipe(Model.optional),
  ended: Model.DateTime.pipe(Model.optional),
  /** How the last attempt that failed did so. */
  failure: Schema.String.pipe(Model.optional)
}) {}

/**
 * Describes a job. Its name stands in the store, so it stays the same.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <
  const Name extends string,
  Payload extends Schema.Struct.Fields,
  Failure extends Schema.Top = Schema.Never
>(
  name: Name,
  { error: _error, payload, ...options }: Options<Payload, Failure>
): Job<Name, Schema.Struct<Payload>["Type"], Failure["Type"]> => {
  const described: Described = { name, payload: Schema.Struct(payload), options }
  const job: Job<Name, Schema.Struct<Payload>["Type"], Failure["Type"]> = {
    name,
    enqueue: (payload, options) => Effect.flatMap(queue, ({ enqueue }) => enqueue(described, payload, options)),
    implement: (run) => ({ _tag: "JobImplementation", job, run }),
    "~appkernel/Job": described
  }
  return job
}

/**
 * Gives a dead letter its attempts again, by the identifier of its document. Returns whether there is such a dead letter.
 *
 * @category combinators
 * @since 0.1.0
 */
export const retry = (id: string): Effect.Effect<boolean, StoreError, DocumentStore> =>
  Effect.flatMap(queue, ({ retryDead }) => retryDead(id))

/**
 * Removes a dead letter, by the identifier of its document. Returns whether there is such a dead letter.
 *
 * @category combinators
 * @since 0.1.0
 */
export const discard = (id: string): Effect.Effect<boolean, StoreError, DocumentStore> =>
  Effect.flatMap(
    DocumentStore,
    (store) => Effect.map(store.deleteOne("QueuedJob", { _id: id, state: "dead" }), (count) => count === 1)
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

let loaded: Promise<typeof JobQueue> | undefined

// Effect's queue is loaded by programs that use it, and by no others.
const queue = Effect.promise(() => loaded ??= import("./queue/jobQueue.ts"))
