/**
 * Migrations: effects that change what is stored, each of which runs once for a store, in order.
 *
 * `npx appkernel migrate` runs those that the engine names and the store has not had: one process at a time, with a lock that
 * a process loses when it dies. A migration and the note that it has run are one transaction, so that it is done as a whole
 * or not at all. The notes are in the collection `appkernel.migrations`.
 *
 * Prefer collections and fields by their names in migrations to the models, which will have changed when it runs on the next
 * machine. For documents that only get another form, a model's `versions` need no migration.
 *
 * **Example** (A field that becomes two)
 *
 * ```ts
 * import { DocumentStore, EmbeddedStore, Migration } from "appkernel"
 * import { Effect } from "effect"
 *
 * const split = Migration.make("0001_split_names", () =>
 *   Effect.gen(function*() {
 *     const store = yield* DocumentStore.DocumentStore
 *     yield* store.updateMany("Person", { first: { $exists: false } }, [
 *       { $set: { first: { $first: { $split: ["$name", " "] } }, last: { $last: { $split: ["$name", " "] } } } },
 *       { $unset: "name" }
 *     ])
 *   }))
 *
 * const program = Effect.gen(function*() {
 *   const store = yield* DocumentStore.DocumentStore
 *   yield* store.insertOne("Person", { _id: 1, name: "Ann Lee" })
 *   const { applied } = yield* Migration.run([split])
 *   return [applied, yield* store.findById("Person", 1)]
 * }).pipe(Effect.provide(EmbeddedStore.layerMemory))
 *
 * await Effect.runPromise(program) // => [["0001_split_names"], { _id: 1, first: "Ann", last: "Lee" }]
 * ```
 *
 * @since 0.1.0
 */
import { withLease } from "@appkernel/document-store/shared"
import { dateOf } from "@appkernel/mql/values"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { hash } from "node:crypto"
import { DeclarationError } from "../internal/declarationError.ts"
import { DocumentStore } from "./DocumentStore.ts"
import type { ReadError, StoreError } from "./RepositoryError.ts"
import { StoreUnavailable } from "./RepositoryError.ts"

/**
 * A migration.
 *
 * @category models
 * @since 0.1.0
 */
export interface Migration {
  /** Its name for good: migrations have run by their ids. */
  readonly id: string
  readonly effect: Effect.Effect<unknown, MigrationFailed, DocumentStore>
  /** Whether the migration runs in a transaction. */
  readonly transaction: boolean
  /** A hash of its checksum, which tells whether it was edited. `undefined` if it has none. */
  readonly hash: string | undefined
  /** A hash of the text of its function, in the place of the checksum's. `undefined` if it is no function, or has a checksum. */
  readonly text: string | undefined
}

/**
 * Options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * Whether the migration and the note about it are one transaction. Without one, a migration that was interrupted runs again
   * from its beginning, so it has to tolerate what it has done already. Operations on indexes need `false`, and so do
   * changes of more documents than a transaction takes. Defaults to true.
   */
  readonly transaction?: boolean | undefined
  /** A text that you change with the migration, in the place of the hash of its function. */
  readonly checksum?: string | undefined
}

/**
 * Declares a migration. Its effect has the store, and no caller's rights. If it is a function, a hash of the function's own
 * text, without its white space, tells {@link run} whether it was edited after it has run; functions that it calls are not in it. A
 * bundler changes that text, so the start of a service goes by checksums alone.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <E>(
  id: string,
  effect: Effect.Effect<unknown, E, DocumentStore> | (() => Effect.Effect<unknown, E, DocumentStore>),
  { checksum, transaction = true }: Options = {}
): Migration => {
  const isText = checksum === undefined && !Effect.isEffect(effect)
  return {
    id,
    effect: Effect.mapError(Effect.isEffect(effect) ? effect : Effect.suspend(effect), failedOf(id, transaction)),
    transaction,
    hash: checksum === undefined ? undefined : digest(checksum),
    text: isText ? digest(String(effect).replaceAll(/\s+/gu, "")) : undefined
  }
}

/**
 * Occurs when a migration has failed, or must not run. `detail` says which one and why. A retry helps once that is no longer
 * so; migrations that have run before it are done.
 *
 * @category errors
 * @since 0.1.0
 */
export class MigrationFailed extends Schema.TaggedError<MigrationFailed>()("MigrationFailed", {
  id: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `Migration ${this.id}: ${this.detail}`
  }
}

/**
 * Occurs when a service does not start because migrations have not run.
 *
 * @category errors
 * @since 0.1.0
 */
export class MigrationsMissing extends Schema.TaggedError<MigrationsMissing>()("MigrationsMissing", {
  ids: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `Migrations have not run: ${
      this.ids.join(", ")
    }. Run them by npx appkernel migrate, or see migrations.on_start`
  }
}

/**
 * What a store has had of migrations.
 *
 * @category models
 * @since 0.1.0
 */
export interface Status {
  /** The migrations that have run, in their order. */
  readonly applied: ReadonlyArray<string>
  /** The migrations that have not run. */
  readonly pending: ReadonlyArray<string>
  /** Those of {@link pending} that an earlier run has begun outside of a transaction and not completed. */
  readonly interrupted: ReadonlyArray<string>
  /** Those of {@link applied} that were edited since. */
  readonly edited: ReadonlyArray<string>
  /** Those that have run and are not among the given ones: a newer version of the program was here. */
  readonly unknown: ReadonlyArray<string>
}

/**
 * Options of {@link status}.
 *
 * @category models
 * @since 0.1.0
 */
export interface StatusOptions {
  /**
   * Whether texts of functions are compared, besides checksums. A bundler writes other texts from build to build, so the start of a
   * service has `false`. Defaults to true, for programs that run from their sources.
   */
  readonly compareTexts?: boolean | undefined
}

/**
 * Tells which of the migrations a store has had.
 *
 * @category combinators
 * @since 0.1.0
 */
export const status = Effect.fn("Migration.status")(function*(
  migrations: ReadonlyArray<Migration>,
  { compareTexts = true }: StatusOptions = {}
): Effect.fn.Return<Status, ReadError, DocumentStore> {
  yield* assertIds(migrations)
  const store = yield* DocumentStore
  const notes = (yield* store.find(ledger, { sort: { _id: 1 } })).filter(({ _id }) => _id !== lockId)
  const noteOf = new Map(notes.map((note) => [note["_id"], note]))
  const isApplied = ({ id }: Migration): boolean => noteOf.get(id)?.["state"] === "done"
  const idsOf = (keep: (migration: Migration) => boolean) => migrations.filter(keep).map(({ id }) => id)
  const known = new Set<unknown>(migrations.map(({ id }) => id))
  return {
    applied: idsOf(isApplied),
    pending: idsOf((migration) => !isApplied(migration)),
    interrupted: idsOf(({ id }) => noteOf.get(id)?.["state"] === "running"),
    edited: idsOf((migration) => {
      const differs = (key: "hash" | "text"): boolean => {
        const noted = noteOf.get(migration.id)?.[key]
        return noted !== undefined && migration[key] !== undefined && noted !== migration[key]
      }
      return isApplied(migration) && (differs("hash") || compareTexts && differs("text"))
    }),
    unknown: notes.map(({ _id }) => String(_id)).filter((id) => !known.has(id))
  }
})

/**
 * Options of {@link run}.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunOptions extends StatusOptions {
  /** The time after which the lock of a process that has died can be taken. Defaults to 15 seconds. */
  readonly lease?: Duration.Input | undefined
  /** Whether migrations that were edited after they have run are taken as they are now. Defaults to false. */
  readonly acceptEdited?: boolean | undefined
  /** Runs before each migration. */
  readonly onBegin?: ((id: string) => Effect.Effect<void>) | undefined
  /** Runs if another process has the lock, with who that is. */
  readonly onWait?: ((holder: string) => Effect.Effect<void>) | undefined
}

/**
 * Runs the migrations that the store has not had, in their order, and returns their ids. Other processes that do the same
 * wait. Fails with `MigrationFailed` when one fails, after which no other runs, and before any runs when one was edited
 * after it has run, when one that has run is not among them, or when one that has not run stands before one that has.
 *
 * @category combinators
 * @since 0.1.0
 */
export const run = Effect.fn("Migration.run")(function*(
  migrations: ReadonlyArray<Migration>,
  { acceptEdited = false, compareTexts = true, lease = "15 seconds", onBegin, onWait }: RunOptions = {}
): Effect.fn.Return<{ readonly applied: ReadonlyArray<string> }, StoreError | MigrationFailed, DocumentStore> {
  const store = yield* DocumentStore
  const found = status(migrations, { compareTexts })
  if (isComplete(yield* found)) return { applied: [] }
  return yield* withLease({
    store,
    collection: ledger,
    id: lockId,
    duration: Duration.fromInputUnsafe(lease),
    onWait: onWait ?? ((holder) => Effect.logInfo(`Waiting for the migrations of ${holder}`))
  }, (holder) =>
    Effect.gen(function*() {
      const now = yield* found
      yield* assertOrder(migrations, now, acceptEdited)
      for (const migration of migrations.filter(({ id }) => now.edited.includes(id))) {
        yield* store.updateOne(ledger, { _id: migration.id }, { $set: hashesOf(migration, compareTexts) })
      }
      const pending = migrations.filter(({ id }) => now.pending.includes(id))
      for (const migration of pending) {
        yield* onBegin?.(migration.id) ?? Effect.logInfo(`Running migration ${migration.id}`)
        yield* apply(store, migration, holder, hashesOf(migration, compareTexts))
      }
      return { applied: pending.map(({ id }) => id) }
    }))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const digest = (text: string): string => hash("sha256", text).slice(0, 16)

/** What is noted to tell edits by. */
const hashesOf = ({ hash, text }: Migration, compareTexts: boolean): { readonly [key: string]: string } => ({
  ...hash === undefined ? {} : { hash },
  ...text === undefined || !compareTexts ? {} : { text }
})

const ledger = "appkernel.migrations"

const lockId = "appkernel.lock"

const isComplete = ({ edited, pending, unknown }: Status): boolean =>
  edited.length === 0 && pending.length === 0 && unknown.length === 0

const assertIds = (migrations: ReadonlyArray<Migration>): Effect.Effect<void> => {
  const ids = migrations.map(({ id }) => id)
  const twice = ids.find((id, i) => ids.indexOf(id) !== i)
  const wrong = ids.find((id) => id === "" || id === lockId)
  return twice !== undefined
    ? Effect.die(new DeclarationError(`There are two migrations ${twice}`))
    : wrong !== undefined
    ? Effect.die(new DeclarationError(`"${wrong}" can't be the id of a migration`))
    : Effect.void
}

const assertOrder = (
  migrations: ReadonlyArray<Migration>,
  { applied, edited, unknown }: Status,
  acceptEdited: boolean
): Effect.Effect<void, MigrationFailed> => {
  const [newer] = unknown
  if (newer !== undefined) {
    return Effect.fail(
      new MigrationFailed({ id: newer, detail: "it has run, and this program does not know it: a newer one was here" })
    )
  }
  const [changed] = edited
  if (changed !== undefined && !acceptEdited) {
    return Effect.fail(new MigrationFailed({ id: changed, detail: "it was edited after it has run" }))
  }
  const late = migrations.slice(0, applied.length).find(({ id }) => !applied.includes(id))
  return late === undefined ? Effect.void : Effect.fail(
    new MigrationFailed({ id: late.id, detail: `it has not run, and stands before ${applied.at(-1)}, which has` })
  )
}

const apply = Effect.fnUntraced(function*(
  store: DocumentStore["Service"],
  { effect, id, transaction }: Migration,
  holder: string,
  hashes: { readonly [key: string]: string }
) {
  const note = (now: number) => ({
    ...hashes,
    holder,
    finished: dateOf(now),
    state: "done"
  })
  if (transaction) {
    const both = Effect.gen(function*() {
      yield* effect
      // The second of two processes can't write it, so that neither it nor what it has done is committed. An earlier run of it that had
      // no transaction may have left that it began.
      yield* store.deleteOne(ledger, { _id: id, state: "running" })
      yield* store.insertOne(ledger, { _id: id, ...note(yield* Clock.currentTimeMillis) })
    })
    const failed = failedOf(id, transaction)
    return yield* Effect.mapError(
      store.transaction(both),
      (error) => error instanceof MigrationFailed ? error : failed(error)
    )
  }
  const running = { holder, begun: dateOf(yield* Clock.currentTimeMillis), state: "running" }
  yield* store.updateOne(ledger, { _id: id }, { $set: running }, { upsert: true })
  yield* effect
  const done = { $set: note(yield* Clock.currentTimeMillis) }
  const { matchedCount } = yield* store.updateOne(ledger, { _id: id, holder, state: "running" }, done)
  if (matchedCount === 0) {
    return yield* new StoreUnavailable({
      operation: "migrate",
      detail: `migration ${id} was begun by another process meanwhile`,
      retryable: true
    })
  }
})

const failedOf = (id: string, transaction: boolean) => (error: unknown): MigrationFailed => {
  const reason = error instanceof Error ? error.message : String(error)
  const isUnfit = transaction && error instanceof Error && "_tag" in error && error._tag === "Unsupported"
  return new MigrationFailed({ id, detail: isUnfit ? `${reason}. Declare it with { transaction: false }` : reason })
}
