/**
 * Updates, replacements and deletions of the embedded store.
 *
 * Each document is written atomically, in one job with its index entries. The write of several documents (`updateMany`,
 * `deleteMany`) is not atomic as a whole: when it fails, the documents written so far stay written.
 */
import type {
  Document,
  DocumentStore,
  FindOneAndDeleteOptions,
  FindOneAndReplaceOptions,
  UpdateManyOptions,
  UpdateOneOptions,
  UpdateResult
} from "@appkernel/document-store/DocumentStore"
import type { DuplicateKey, ReadError, StoreError } from "@appkernel/document-store/StoreError"
import {
  catchRejection,
  contextWith,
  type ExpressionContext,
  type Filter,
  orReject,
  parseCollation,
  parseProjection,
  parseReplacement,
  parseSort,
  parseUpdate,
  plainValue,
  type Problem,
  type Update
} from "@appkernel/mql/internal"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Catalog } from "../catalog/catalog.ts"
import type { Collection } from "../catalog/collection.ts"
import { checkedName } from "../catalog/collectionName.ts"
import type { StoredDocument } from "../planner/candidates.ts"
import type { WatchedKeyValue } from "../storage/orderedStore.ts"
import { type DocumentWriter, prepare } from "./documentWriter.ts"
import { makeMatching, type Matching, type MatchRequest, type WriteMatch } from "./findAndWrite.ts"
import { type EmbeddedInserts, makeEmbeddedInserts } from "./inserts.ts"
import { parseFilterOf } from "./matchingDocuments.ts"
import { runStep, withNow } from "./readSteps.ts"

type Store = DocumentStore["Service"]

type Updates = "replaceOne" | "updateOne" | "updateMany"

type FindsAndChanges = "findOneAndUpdate" | "findOneAndReplace"

type Deletions = "findOneAndDelete" | "deleteOne" | "deleteMany"

export type EmbeddedWrites = EmbeddedInserts & Pick<Store, Updates | FindsAndChanges | Deletions>

export const makeEmbeddedWrites = (
  store: WatchedKeyValue,
  catalog: Catalog,
  writer: DocumentWriter
): EmbeddedWrites => {
  const context: TableWrites = { store, catalog, writer, matching: makeMatching(store, catalog) }
  return {
    ...makeEmbeddedInserts(store, catalog, writer),
    ...updates(context),
    ...findsAndChanges(context),
    ...deletions(context)
  }
}

// internal

interface TableWrites {
  readonly store: WatchedKeyValue
  readonly catalog: Catalog
  readonly writer: DocumentWriter
  readonly matching: Matching
}

const updates = (context: TableWrites): Pick<Store, Updates> => {
  const updateFirst = (
    target: Target,
    parse: RequestParser<ChangeRequest>
  ): Effect.Effect<UpdateResult, StoreError> => {
    const none = target.options?.upsert === true ? undefined : noUpdate
    return withRequest(context, target, parse, (request) => changeFirst(context, target, request, updateResultOf, none))
  }
  return {
    replaceOne: (name, filter, document, options) =>
      updateFirst({ operation: "replaceOne", name, filter, options }, replacing(document)),
    updateOne: (name, filter, update, options) =>
      updateFirst({ operation: "updateOne", name, filter, options }, updating(update, options)),
    updateMany: (name, filter, update, options) => {
      const operation = "updateMany"
      return withRequest(context, { operation, name, filter, options }, updating(update, options), (request) => {
        const changeMatch = changing(context, request, ({ isModified }) => Result.succeed(isModified))
        return Effect.map(context.matching.onEach(operation, name, request.filter, changeMatch), (changed) => ({
          matchedCount: changed.length,
          modifiedCount: changed.filter((isModified) => isModified).length
        }))
      })
    }
  }
}

const findsAndChanges = (context: TableWrites): Pick<Store, FindsAndChanges> => ({
  findOneAndUpdate: (name, filter, update, options = {}) =>
    findAndChange(context, { operation: "findOneAndUpdate", name, filter, options }, updating(update, options)),
  findOneAndReplace: (name, filter, document, options = {}) =>
    findAndChange(context, { operation: "findOneAndReplace", name, filter, options }, replacing(document))
})

const requestOf = (filter: Filter): MatchRequest => ({ filter })

const deletions = (context: TableWrites): Pick<Store, Deletions> => {
  const { matching, writer } = context
  const remove = (collection: Collection, found: StoredDocument): Result.Result<1, Problem> => {
    writer.remove(collection, found)
    return Result.succeed(1)
  }
  return {
    findOneAndDelete: (name, filter, options = {}) => {
      const operation = "findOneAndDelete"
      const parse = foundBy(options, true, requestOf)
      return withRequest(context, { operation, name, filter, options }, parse, ({ project, ...request }) => {
        const removeAndReturn = (collection: Collection, found: StoredDocument) =>
          Result.map(project(found.document), (result) => {
            writer.remove(collection, found)
            return result
          })
        const none = { insert: () => Result.succeed({}), isFinal: true }
        return documentOf(matching.onFirst<DocumentResult>(operation, name, request, removeAndReturn, none))
      })
    },
    deleteOne: (name, filter, options) => {
      const none = { insert: () => Result.succeed(0), isFinal: true }
      return withRequest(
        context,
        { operation: "deleteOne", name, filter, options },
        requestOf,
        (request) => matching.onFirst<number>("deleteOne", name, request, remove, none)
      )
    },
    deleteMany: (name, filter, options) =>
      withRequest(
        context,
        { operation: "deleteMany", name, filter, options },
        requestOf,
        ({ filter }) => Effect.map(matching.onEach<1>("deleteMany", name, filter, remove), (removed) => removed.length)
      )
  }
}

interface ChangeRequest extends MatchRequest {
  readonly update: Update
}

/** A document before and after a change. An inserted document has no `before`. */
interface Change {
  readonly before: Document | undefined
  readonly after: Document
  readonly isModified: boolean
}

/** Computes the result of an operation from a change, before the write. Its failure prevents the write. */
type ResultOf<A> = (change: Change) => Result.Result<A, Problem>

/** Parses what an operation takes beside its filter. May throw. */
type RequestParser<Request> = (filter: Filter, context: ExpressionContext) => Request

const updating =
  (update: unknown, options: UpdateManyOptions = {}): RequestParser<ChangeRequest> => (filter, context) => ({
    filter,
    update: orReject(parseUpdate(update, context, options.arrayFilters))
  })

const replacing = (document: unknown): RequestParser<ChangeRequest> => (filter) => ({
  filter,
  update: orReject(parseReplacement(document))
})

/** What an operation is for, as it is given. */
interface Target {
  readonly operation: string
  /** The name of the collection. */
  readonly name: string
  readonly filter: unknown
  readonly options: (Pick<UpdateOneOptions, "collation" | "let" | "upsert">) | undefined
}

/** Runs an operation with what `parse` makes of its filter. */
const withRequest = <Request, A, E>(
  { catalog, store }: TableWrites,
  { filter, name, operation, options }: Target,
  parse: RequestParser<Request>,
  run: (request: Request) => Effect.Effect<A, E>
): Effect.Effect<A, E | ReadError> =>
  withNow((now): Effect.Effect<A, E | ReadError> => {
    const request = runStep(store, operation, () =>
      catchRejection(() => {
        const collator = orReject(parseCollation(options?.collation))
        const context = orReject(contextWith(options?.let, { now, collator }))
        return parse(orReject(parseFilterOf(catalog, name, filter, context)), context)
      }))
    return Result.isSuccess(request) ? run(request.success) : Effect.fail(request.failure)
  })

/** What an operation takes that returns a document: the match before the write, or the document after it. */
const foundBy = <Request extends MatchRequest>(
  { projection, sort = {} }: FindOneAndDeleteOptions,
  isMatch: boolean,
  parse: RequestParser<Request>
): RequestParser<Request & Required<Pick<MatchRequest, "sort">> & { readonly project: Project }> =>
(filter, context) => ({
  ...parse(filter, context),
  sort: orReject(parseSort(sort, filter.collator)),
  project: resultProjection(projection, context, isMatch ? filter : undefined)
})

/** Changes a match. */
const changing = <A>(
  { store, writer }: TableWrites,
  { filter, update }: ChangeRequest,
  resultOf: ResultOf<A>
): WriteMatch<A, DuplicateKey> =>
(collection, found) => {
  const before = found.document
  const changed = update.apply(before, filter)
  if (Result.isFailure(changed)) return Result.fail(changed.failure)
  const after = changed.success
  const result = resultOf({ before, after: after ?? before, isModified: after !== undefined })
  if (Result.isFailure(result) || after === undefined) return result
  const prepared = prepare(store, after)
  if (Result.isFailure(prepared)) return Result.fail(prepared.failure)
  return Result.map(writer.replace(collection, prepared.success, found), () => result.success)
}

/** Inserts the document of an upsert. */
const inserting = <A>(
  { catalog, store, writer }: TableWrites,
  name: string,
  { filter, update }: ChangeRequest,
  resultOf: ResultOf<A>
) =>
(): Result.Result<A, DuplicateKey | Problem> =>
  Result.gen(function*() {
    const after = yield* update.insert(filter)
    const result = yield* resultOf({ before: undefined, after, isModified: true })
    yield* writer.insert(catalog.ensure(yield* checkedName(name)), yield* prepare(store, after))
    return result
  })

/** Changes the first match. Without a match, returns `none`; if that is `undefined`, inserts the document of an upsert. */
const changeFirst = <A>(
  context: TableWrites,
  { name, operation }: Target,
  request: ChangeRequest,
  resultOf: ResultOf<A>,
  none: A | undefined
): Effect.Effect<A, StoreError> =>
  context.matching.onFirst<A, DuplicateKey>(
    operation,
    name,
    request,
    changing(context, request, resultOf),
    none === undefined
      ? { insert: inserting(context, name, request, resultOf), isFinal: false }
      : { insert: () => Result.succeed(none), isFinal: true }
  )

/** Changes the first match, and returns the document before or after the change. */
const findAndChange = (
  context: TableWrites,
  target: Target & { readonly options: FindOneAndReplaceOptions },
  parse: RequestParser<ChangeRequest>
): Effect.Effect<Document | undefined, StoreError> => {
  const { returnDocument, upsert } = target.options
  const isAfter = returnDocument === "after"
  return withRequest(context, target, foundBy(target.options, !isAfter, parse), ({ project, ...request }) => {
    const resultOf: ResultOf<DocumentResult> = ({ after, before }) => project(isAfter ? after : before)
    return documentOf(changeFirst(context, target, request, resultOf, upsert === true ? undefined : {}))
  })
}

const noUpdate: UpdateResult = { matchedCount: 0, modifiedCount: 0 }

const updateResultOf: ResultOf<UpdateResult> = ({ after, before, isModified }) =>
  Result.succeed(
    before === undefined
      ? { ...noUpdate, upsertedId: plainValue(after["_id"]) }
      : { matchedCount: 1, modifiedCount: Number(isModified) }
  )

interface DocumentResult {
  readonly document?: Document
}

const documentOf = <E>(result: Effect.Effect<DocumentResult, E>): Effect.Effect<Document | undefined, E> =>
  Effect.map(result, ({ document }) => document)

type Project = (document: Document | undefined) => Result.Result<DocumentResult, Problem>

/**
 * Parses the projection of a result, which sees no variables of the operation. `filter` is the filter that the projected
 * document matches; `undefined` for a document after an update. May throw.
 */
const resultProjection = (
  projection: Document | undefined,
  context: ExpressionContext,
  filter: Filter | undefined
): Project => {
  const project = projection && orReject(parseProjection(projection, { ...context, variables: undefined }, filter))
  return (document) =>
    document === undefined
      ? Result.succeed({})
      : project === undefined
      ? Result.succeed({ document: plainValue(document) })
      : catchRejection(() => ({ document: plainValue(project(document)) }))
}
