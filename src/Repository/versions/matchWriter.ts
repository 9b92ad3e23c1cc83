/**
 * Writes that the store can't make by itself while documents of several versions may be stored: the match is read, changed in
 * the newest version, and written while the stored document is as it was read.
 */
import { makeRetry } from "@appkernel/document-store/shared"
import { catchRejection, fromProblem, parseFilter, parseUpdate } from "@appkernel/mql"
import { isDocument } from "@appkernel/mql/values"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ModelLike } from "../../Model/internal.ts"
import type { ValidationException } from "../../Model/ModelError.ts"
import { unchangedSince } from "../collection/documentFields.ts"
import type { CollectionOperation, UpdateName } from "../collection/modelCollection.ts"
import type {
  Document,
  DocumentStore,
  Filter,
  FindOneAndUpdateOptions,
  FindOptions,
  IndexDescription,
  Update
} from "../DocumentStore.ts"
import { unreadableProblems } from "../query/unreadable.ts"
import { QueryRejected, type ReadError, StoreUnavailable, type WriteError } from "../RepositoryError.ts"
import type { AgreementReader, State } from "./agreement.ts"
import type { Changes } from "./changes.ts"
import { modelVersionOf } from "./modelVersions.ts"
import { withUniqueValues } from "./uniqueValues.ts"
import type { placesOf } from "./versionIndexes.ts"

export interface Written {
  readonly before: Document
  readonly after: Document
  readonly isChanged: boolean
}

/** The conversions between the documents that are stored and those that users see. */
export interface Conversions {
  /** Every field that a stored document may have. */
  readonly fields: ReadonlyArray<string>
  readonly changesIn: (state: State) => Changes
  readonly current: Effect.Effect<State, ReadError>
  readonly modelVersionOf: (stored: Document) => number
  readonly upgrade: (stored: Document) => Document
  /** A document that users give as it is stored in a version; `stored` is the one that it replaces. */
  readonly downgrade: (
    operation: string,
    document: Document,
    version: number,
    stored: Document | undefined
  ) => Effect.Effect<Document, QueryRejected | ValidationException>
  readonly storing: AgreementReader["storing"]
  /** Where documents of each version have the values of an index. */
  readonly placesOf: (index: IndexDescription, earliest: number) => ReturnType<typeof placesOf>
  /** What replaces a document, with what its users do not see of the one before; `undefined` if they see everything. */
  readonly keeping: ((before: Document, document: Document) => Document) | undefined
}

/** What reads documents in the newest version. */
interface Searching {
  readonly findIn: (
    operation: string,
    changes: Changes,
    filter: Filter,
    options: Omit<FindOptions, "filter">
  ) => Effect.Effect<ReadonlyArray<Document>, ReadError>
  /** Runs an operation with what is known of the stored versions. */
  readonly withState: <A, E>(use: (changes: Changes) => Effect.Effect<A, E>) => Effect.Effect<A, E | ReadError>
}

/** The match with the identifier, or the first match. */
type Target = { readonly id: unknown } | { readonly sort: FindOptions["sort"] }

export const makeMatchWriter = (
  model: ModelLike,
  store: DocumentStore["Service"],
  { fields, modelVersionOf: versionIn, upgrade, downgrade, placesOf, storing }: Conversions,
  { findIn, withState }: Searching
) => {
  const name = model.modelName
  const retry = makeRetry()

  /** Writes a document of the newest version, whose unique values no other one has. `before` is the document that it replaces. */
  const uniquely = <A, E>(changes: Changes, document: Document, write: Effect.Effect<A, E>, before?: Document) => {
    const stored = Effect.andThen(storing(changes.written), write)
    return changes.deferred.length === 0 ? stored : withUniqueValues(
      { store, collection: name, upgrade, placesOf: (index) => placesOf(index, changes.earliest) },
      changes.deferred,
      { document, before },
      stored
    )
  }

  /** The first match as it is stored. */
  const firstMatch = Effect.fnUntraced(function*(changes: Changes, filter: Filter, sort?: FindOptions["sort"]) {
    const [found] = yield* findIn("find", changes, filter, { sort, limit: 1 })
    return found === undefined ? undefined : yield* store.findById(name, found["_id"])
  })

  /** Whether a caller may learn of a document that can't be read. */
  const isShown = (changes: Changes, filter: Filter, stored: Document) => {
    const { isReadableOnly, stored: candidates } = changes.searchFor(filter)
    return isReadableOnly ? Effect.succeed(false) : Effect.map(
      store.findById(name, stored["_id"], { filter: candidates }),
      (found) => found !== undefined
    )
  }

  /**
   * Writes the first match, or the match with the identifier, while the stored document is as it was read. `change` gives the
   * document to write, `undefined` if nothing changes, or `"remove"`.
   */
  const writeMatch = (
    operation: string,
    filter: Filter,
    target: Target,
    change: (
      upgraded: Document,
      parsed: ParsedFilter
    ) => Effect.Effect<Document | undefined | "remove", WriteError>
  ): Effect.Effect<Written | undefined, WriteError> => {
    const attempt = withState((changes) =>
      Effect.gen(function*() {
        const stored = "id" in target
          ? yield* store.findById(name, target.id)
          : yield* firstMatch(changes, filter, target.sort)
        if (stored === undefined) return undefined
        const before = upgrade(stored)
        const problems = unreadableProblems(before)
        if (problems !== undefined) {
          return (yield* isShown(changes, filter, stored)) ? yield* unwritable(model, operation, stored) : undefined
        }
        const parsed = yield* matching(operation, filter, before)
        if (parsed === undefined) return "id" in target ? undefined : yield* Effect.fail(new Changed())
        const changed = yield* change(before, parsed)
        if (changed === undefined) return { before, after: before, isChanged: false }
        // A document stays at least in the version in which it is stored.
        const after = changed === "remove"
          ? changed
          : yield* downgrade(operation, changed, Math.max(changes.written, versionIn(stored)), stored)
        const isAsRead: Filter = { ...unchangedSince(stored, fields), _id: stored["_id"] }
        const isDone = after === "remove"
          ? (yield* store.deleteOne(name, isAsRead)) > 0
          : (yield* uniquely(changes, upgrade(after), store.replaceOne(name, isAsRead, after), before)).matchedCount > 0
        if (!isDone) return yield* Effect.fail(new Changed())
        return { before, after: after === "remove" ? before : upgrade(after), isChanged: true }
      })
    )
    return Effect.catchIf(
      retry(
        "id" in target ? String(target.id) : "",
        (error: WriteError | Changed) => error instanceof Changed,
        attempt
      ),
      (error): error is Changed => error instanceof Changed,
      () =>
        Effect.fail(
          new StoreUnavailable({
            operation,
            detail: "other writers kept changing the document; nothing was written",
            retryable: true
          })
        )
    )
  }

  const update = (
    operation: CollectionOperation<UpdateName>,
    filter: Filter,
    target: Target
  ): Effect.Effect<Written | undefined, WriteError> => {
    const { name, options, update } = operation
    return Effect.flatMap(
      parsedUpdate(name, update, options?.arrayFilters),
      (parsed) =>
        writeMatch(name, filter, target, (document, matched) => fromProblem(parsed.apply(document, matched), name))
    )
  }

  const remove = (filter: Filter, target: Target) =>
    Effect.catchTag(
      writeMatch("delete", filter, target, () => Effect.succeed("remove" as const)),
      ["DuplicateKey", "AccessDenied", "FileQuotaExceeded", "ValidationException"],
      // A deletion breaks no rule.
      Effect.die
    )

  return { remove, uniquely, update, writeMatch }
}

/** The document that a filter on the identifier selects, or the first match. */
export const targetOf = (filter: Filter, sort?: FindOneAndUpdateOptions["sort"]): Target => {
  const id = filter["_id"]
  const isOne = id !== undefined && id !== null &&
    !(isDocument(id) && Object.keys(id).some((key) => key.startsWith("$")))
  return isOne ? { id } : { sort }
}

/** The parsed filter if it matches the document; else `undefined`. */
export const matching = (operation: string, filter: Filter, document: Document) =>
  Effect.flatMap(parsedFilter(operation, filter), (parsed) =>
    fromProblem(
      Result.map(catchRejection(() => parsed.matches(document)), (is) => is ? parsed : undefined),
      operation
    ))

/** Why a document that can't be read is not written. */
export const unwritable = ({ modelName }: ModelLike, operation: string, stored: Document): QueryRejected =>
  new QueryRejected({
    operation,
    detail: `${modelName} ${String(stored["_id"])} is stored in form ${
      modelVersionOf(stored)
    }, and has no way up: see \`appkernel check\``
  })

// internal

type ParsedFilter = Parameters<Result.Result.Success<ReturnType<typeof parseUpdate>>["apply"]>[1]

/** Occurs when a document was changed after it was read. */
class Changed {
  readonly _tag = "Changed"
}

const parsedFilter = (operation: string, filter: Filter) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => fromProblem(parseFilter(filter, { now }), operation))

const parsedUpdate = (operation: string, update: Update, arrayFilters: ReadonlyArray<Filter> | undefined) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => fromProblem(parseUpdate(update, { now }, arrayFilters), operation))
