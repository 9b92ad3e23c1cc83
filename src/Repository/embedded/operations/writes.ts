/**
 * Updates, replacements and deletions of the embedded store.
 *
 * Each document is written atomically, in one job with its index entries. The write of several documents (`updateMany`,
 * `deleteMany`) is not atomic as a whole: when it fails, the documents written so far stay written.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { plainValue } from "../../bson/plainDocument.ts"
import type {
  CollationOptions,
  Document,
  DocumentStore,
  FindOneAndReplaceOptions,
  UpdateManyOptions,
  UpdateResult
} from "../../DocumentStore.ts"
import type { ExpressionContext } from "../../mql/expression/expression.ts"
import { contextWith } from "../../mql/expression/letVariables.ts"
import type { Filter } from "../../mql/filter/parseFilter.ts"
import { catchRejection, type Problem } from "../../mql/limits/queryProblem.ts"
import { parseProjection, type Projection } from "../../mql/projection/parseProjection.ts"
import { parseSort } from "../../mql/projection/sortSpec.ts"
import { parseCollation } from "../../mql/text/collation.ts"
import { parseReplacement, parseUpdate, type Update } from "../../mql/update/applyUpdate.ts"
import type { DuplicateKey, ReadError, StoreError } from "../../RepositoryError.ts"
import type { WatchedKeyValue } from "../../storage/orderedStore.ts"
import type { Catalog } from "../catalog/catalog.ts"
import type { Collection } from "../catalog/collection.ts"
import type { StoredDocument } from "../planner/candidates.ts"
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
  const context: WriteContext = { store, catalog, writer, matching: makeMatching(store, catalog) }
  return {
    ...makeEmbeddedInserts(store, catalog, writer),
    ...updates(context),
    ...findsAndChanges(context),
    ...deletions(context)
  }
}

// internal

interface WriteContext {
  readonly store: WatchedKeyValue
  readonly catalog: Catalog
  readonly writer: DocumentWriter
  readonly matching: Matching
}

const updates = (context: WriteContext): Pick<Store, Updates> => ({
  replaceOne: (name, filter, document, options) =>
    withNow((now) =>
      changeFirst(
        context,
        "replaceOne",
        name,
        replaceRequest(context, { operation: "replaceOne", name, filter, now }, document, options),
        updateResultOf,
        options?.upsert === true ? undefined : noUpdate
      )
    ),
  updateOne: (name, filter, update, options) =>
    withNow((now) =>
      changeFirst(
        context,
        "updateOne",
        name,
        updateRequest(context, { operation: "updateOne", name, filter, now }, update, options),
        updateResultOf,
        options?.upsert === true ? undefined : noUpdate
      )
    ),
  updateMany: (name, filter, update, options) =>
    withNow((now) => {
      const request = updateRequest(context, { operation: "updateMany", name, filter, now }, update, options)
      if (Result.isFailure(request)) return Effect.fail(request.failure)
      const changeMatch = changing(context, request.success, ({ isModified }) => Result.succeed(isModified))
      return Effect.map(
        context.matching.onEach("updateMany", name, request.success.filter, changeMatch),
        (changed) => ({
          matchedCount: changed.length,
          modifiedCount: changed.filter((isModified) => isModified).length
        })
      )
    })
})

const findsAndChanges = (context: WriteContext): Pick<Store, FindsAndChanges> => ({
  findOneAndUpdate: (name, filter, update, options = {}) =>
    withNow((now) => {
      const request = updateRequest(context, { operation: "findOneAndUpdate", name, filter, now }, update, options)
      return findAndChange(context, "findOneAndUpdate", name, request, options, now)
    }),
  findOneAndReplace: (name, filter, document, options = {}) =>
    withNow((now) => {
      const request = replaceRequest(context, { operation: "findOneAndReplace", name, filter, now }, document, options)
      return findAndChange(context, "findOneAndReplace", name, request, options, now)
    })
})

const deletions = (context: WriteContext): Pick<Store, Deletions> => {
  const { matching, store, writer } = context
  const remove = (collection: Collection, found: StoredDocument): Result.Result<1, Problem> => {
    writer.remove(collection, found)
    return Result.succeed(1)
  }
  return {
    findOneAndDelete: (name, filter, options = {}) =>
      withFilter(context, "findOneAndDelete", name, filter, options, (parsed, now) => {
        const operation = "findOneAndDelete"
        const parsedOptions = runStep(
          store,
          operation,
          () =>
            Result.all([
              parseSort(options.sort ?? {}, parsed.collator),
              resultProjection(options.projection, { now, collator: parsed.collator }, parsed)
            ])
        )
        if (Result.isFailure(parsedOptions)) return Effect.fail(parsedOptions.failure)
        const [sort, project] = parsedOptions.success
        const removeAndReturn = (collection: Collection, found: StoredDocument) =>
          Result.map(project(found.document), (result) => {
            writer.remove(collection, found)
            return result
          })
        return Effect.map(
          matching.onFirst<DocumentResult>(operation, name, { filter: parsed, sort }, removeAndReturn, {
            insert: () => Result.succeed({}),
            isFinal: true
          }),
          ({ document }) => document
        )
      }),
    deleteOne: (name, filter, options) =>
      withFilter(
        context,
        "deleteOne",
        name,
        filter,
        options,
        (parsed) =>
          matching.onFirst<number>("deleteOne", name, { filter: parsed }, remove, {
            insert: () => Result.succeed(0),
            isFinal: true
          })
      ),
    deleteMany: (name, filter, options) =>
      withFilter(
        context,
        "deleteMany",
        name,
        filter,
        options,
        (parsed) => Effect.map(matching.onEach<1>("deleteMany", name, parsed, remove), (removed) => removed.length)
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

interface Request {
  readonly operation: string
  /** The name of the collection. */
  readonly name: string
  readonly filter: unknown
  readonly now: number
}

const updateRequest = (
  context: WriteContext,
  request: Request,
  update: unknown,
  options: UpdateManyOptions = {}
): Result.Result<ChangeRequest, ReadError> =>
  parseRequest(context, {
    ...request,
    variables: options.let,
    collation: options.collation,
    parse: (context) => parseUpdate(update, context, options.arrayFilters)
  })

const replaceRequest = (
  context: WriteContext,
  request: Request,
  document: unknown,
  options: CollationOptions = {}
): Result.Result<ChangeRequest, ReadError> =>
  parseRequest(context, { ...request, collation: options.collation, parse: () => parseReplacement(document) })

interface UnparsedRequest extends Request, CollationOptions {
  /** The option `let`. */
  readonly variables?: Document | undefined
  readonly parse: (context: ExpressionContext) => Result.Result<Update, Problem>
}

const parseRequest = (
  { catalog, store }: WriteContext,
  { collation, filter, name, now, operation, parse, variables }: UnparsedRequest
): Result.Result<ChangeRequest, ReadError> =>
  runStep(
    store,
    operation,
    () =>
      Result.flatMap(parseCollation(collation), (collator) =>
        Result.flatMap(contextWith(variables, { now, collator }), (context) =>
          Result.flatMap(
            parseFilterOf(catalog, name, filter, context),
            (parsed) =>
              Result.map(parse(context), (update) => ({ filter: parsed, update }))
          )))
  )

const withFilter = <A>(
  { catalog, store }: WriteContext,
  operation: string,
  name: string,
  filter: unknown,
  options: CollationOptions | undefined,
  use: (filter: Filter, now: number) => Effect.Effect<A, ReadError>
): Effect.Effect<A, ReadError> =>
  withNow((now) => {
    const parsed = runStep(store, operation, () =>
      Result.flatMap(parseCollation(options?.collation), (collator) =>
        parseFilterOf(catalog, name, filter, { now, collator })))
    return Result.isSuccess(parsed) ? use(parsed.success, now) : Effect.fail(parsed.failure)
  })

/** Changes a match. */
const changing = <A>(
  { store, writer }: WriteContext,
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
  { catalog, store, writer }: WriteContext,
  name: string,
  { filter, update }: ChangeRequest,
  resultOf: ResultOf<A>
) =>
(): Result.Result<A, DuplicateKey | Problem> =>
  Result.gen(function*() {
    const after = yield* update.insert(filter)
    const result = yield* resultOf({ before: undefined, after, isModified: true })
    yield* writer.insert(catalog.ensure(name), yield* prepare(store, after))
    return result
  })

/** Changes the first match. Without a match, returns `none`; if that is `undefined`, inserts the document of an upsert. */
const changeFirst = <A>(
  context: WriteContext,
  operation: string,
  name: string,
  request: Result.Result<ChangeRequest, ReadError>,
  resultOf: ResultOf<A>,
  none: A | undefined
): Effect.Effect<A, StoreError> =>
  Result.isFailure(request)
    ? Effect.fail(request.failure)
    : context.matching.onFirst<A, DuplicateKey>(
      operation,
      name,
      request.success,
      changing(context, request.success, resultOf),
      none === undefined
        ? { insert: inserting(context, name, request.success, resultOf), isFinal: false }
        : { insert: () => Result.succeed(none), isFinal: true }
    )

/** Changes the first match, and returns the document before or after the change. */
const findAndChange = (
  context: WriteContext,
  operation: string,
  name: string,
  request: Result.Result<ChangeRequest, ReadError>,
  { projection, returnDocument, sort, upsert }: FindOneAndReplaceOptions,
  now: number
): Effect.Effect<Document | undefined, StoreError> => {
  const { store } = context
  const parsed = Result.flatMap(request, (request) =>
    Result.all([
      Result.succeed(request),
      runStep(store, operation, () => parseSort(sort ?? {}, request.filter.collator)),
      runStep(store, operation, () =>
        resultProjection(
          projection,
          { now, collator: request.filter.collator },
          returnDocument === "after" ? undefined : request.filter
        ))
    ]))
  if (Result.isFailure(parsed)) return Effect.fail(parsed.failure)
  const [{ filter, update }, directions, project] = parsed.success
  return Effect.map(
    changeFirst<DocumentResult>(
      context,
      operation,
      name,
      Result.succeed({ filter, update, sort: directions }),
      ({ after, before }) => project(returnDocument === "after" ? after : before),
      upsert === true ? undefined : {}
    ),
    ({ document }) => document
  )
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

/** `filter` is the filter that the projected document matches; `undefined` for a document after an update. */
const resultProjection = (
  projection: Document | undefined,
  context: ExpressionContext,
  filter: Filter | undefined
): Result.Result<(document: Document | undefined) => Result.Result<DocumentResult, Problem>, Problem> =>
  Result.map(
    projection === undefined ? Result.succeed(undefined) : parseProjection(projection, context, filter),
    (project: Projection | undefined) => (document) =>
      document === undefined
        ? Result.succeed({})
        : project === undefined
        ? Result.succeed({ document: plainValue(document) })
        : catchRejection(() => ({ document: plainValue(project(document)) }))
  )
