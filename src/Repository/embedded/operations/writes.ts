/**
 * The writing half of the embedded store.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Document, DocumentStore, FindOneAndReplaceOptions, UpdateResult } from "../../DocumentStore.ts"
import type { Filter } from "../../mql/filter/parseFilter.ts"
import type { Problem } from "../../mql/limits/queryProblem.ts"
import { parseProjection, type Projection } from "../../mql/projection/parseProjection.ts"
import { parseSort } from "../../mql/projection/sortSpec.ts"
import { parseReplacement, parseUpdate, type Update } from "../../mql/update/applyUpdate.ts"
import type { DuplicateKey, ReadError, StoreError } from "../../RepositoryError.ts"
import type { WatchedKeyValue } from "../../storage/orderedStore.ts"
import type { Catalog, Collection } from "../catalog/catalog.ts"
import type { Found } from "../planner/planExecutor.ts"
import { type DocumentWriter, prepare } from "./documentWriter.ts"
import { makeMatching, type Request, type Use } from "./findAndWrite.ts"
import { type Inserting, makeInserting } from "./inserts.ts"
import { parseFilterOf, take, withNow } from "./reads.ts"

/** @internal */
export type Writing =
  & Inserting
  & Pick<
    DocumentStore["Service"],
    | "replaceOne"
    | "updateOne"
    | "updateMany"
    | "findOneAndUpdate"
    | "findOneAndReplace"
    | "findOneAndDelete"
    | "deleteOne"
    | "deleteMany"
  >

/** @internal */
export const makeWriting = (store: WatchedKeyValue, catalog: Catalog, writer: DocumentWriter): Writing => {
  const { onEach, onFirst } = makeMatching(store, catalog)

  /** Writes what a match becomes, once it is clear what to tell of it. */
  const change = <A>({ filter, update }: ChangeRequest, tell: Tell<A>): Use<A, DuplicateKey> => (collection, found) => {
    const before = found.document
    return Result.flatMap(update.apply(before, filter), (changed) =>
      Result.flatMap(
        tell({ before, after: changed ?? before, isModified: changed !== undefined }),
        (told): Result.Result<A, DuplicateKey | Problem> =>
          changed === undefined
            ? Result.succeed(told)
            : Result.flatMap(
              prepare(store, changed),
              (prepared) => Result.map(writer.replace(collection, prepared, found), () => told)
            )
      ))
  }

  const changeFirst = <A>(
    operation: string,
    name: string,
    request: Result.Result<ChangeRequest, ReadError>,
    tell: Tell<A>,
    none: A | undefined
  ): Effect.Effect<A, StoreError> => {
    if (Result.isFailure(request)) return Effect.fail(request.failure)
    const { filter, update } = request.success
    const insert = (): Result.Result<A, DuplicateKey | Problem> =>
      Result.flatMap(
        update.insert(filter),
        (after) =>
          Result.flatMap(
            tell({ before: undefined, after, isModified: true }),
            (told) =>
              Result.flatMap(
                prepare(store, after),
                (prepared) => Result.map(writer.insert(catalog.ensure(name), prepared), () => told)
              )
          )
      )
    return onFirst<A, DuplicateKey>(
      operation,
      name,
      request.success,
      change(request.success, tell),
      none === undefined ? { insert, isFinal: false } : { insert: () => Result.succeed(none), isFinal: true }
    )
  }

  /** {@link changeFirst} that gives the document. */
  const findAndChange = (
    operation: string,
    name: string,
    request: Result.Result<ChangeRequest, ReadError>,
    { projection, returnDocument, sort, upsert }: FindOneAndReplaceOptions,
    now: number
  ): Effect.Effect<Document | undefined, StoreError> => {
    const answer = Result.all([
      request,
      take(store, operation, () => parseSort(sort ?? {})),
      take(store, operation, () => projecting(projection, now))
    ])
    if (Result.isFailure(answer)) return Effect.fail(answer.failure)
    const [{ filter, update }, directions, project] = answer.success
    return Effect.map(
      changeFirst<Told>(
        operation,
        name,
        Result.succeed({ filter, update, sort: directions }),
        ({ after, before }) => project(returnDocument === "after" ? after : before),
        upsert === true ? undefined : {}
      ),
      ({ document }) => document
    )
  }

  const requestOf = (
    operation: string,
    name: string,
    filter: unknown,
    update: Result.Result<Update, Problem>,
    now: number
  ): Result.Result<ChangeRequest, ReadError> =>
    take(
      store,
      operation,
      () =>
        Result.flatMap(
          parseFilterOf(catalog, name, filter, now),
          (parsed) => Result.map(update, (update) => ({ filter: parsed, update }))
        )
    )

  const remove = (collection: Collection, found: Found): Result.Result<1, Problem> => {
    writer.remove(collection, found)
    return Result.succeed(1)
  }

  const withFilter = <A>(
    operation: string,
    name: string,
    filter: unknown,
    use: (filter: Filter, now: number) => Effect.Effect<A, ReadError>
  ): Effect.Effect<A, ReadError> =>
    withNow((now) => {
      const parsed = take(store, operation, () => parseFilterOf(catalog, name, filter, now))
      return Result.isSuccess(parsed) ? use(parsed.success, now) : Effect.fail(parsed.failure)
    })

  return {
    ...makeInserting(store, catalog, writer),
    replaceOne: (name, filter, document, options) =>
      withNow((now) =>
        changeFirst(
          "replaceOne",
          name,
          requestOf("replaceOne", name, filter, parseReplacement(document), now),
          tellUpdate,
          options?.upsert === true ? undefined : noUpdate
        )
      ),
    updateOne: (name, filter, update, options) =>
      withNow((now) =>
        changeFirst(
          "updateOne",
          name,
          requestOf("updateOne", name, filter, parseUpdate(update, now, options?.arrayFilters), now),
          tellUpdate,
          options?.upsert === true ? undefined : noUpdate
        )
      ),
    updateMany: (name, filter, update, options) =>
      withNow((now) => {
        const request = requestOf("updateMany", name, filter, parseUpdate(update, now, options?.arrayFilters), now)
        if (Result.isFailure(request)) return Effect.fail(request.failure)
        const isChanged = change(request.success, ({ isModified }) => Result.succeed(isModified))
        return Effect.map(onEach("updateMany", name, request.success.filter, isChanged), (changed) => ({
          matchedCount: changed.length,
          modifiedCount: changed.filter((isModified) => isModified).length
        }))
      }),
    findOneAndUpdate: (name, filter, update, options = {}) =>
      withNow((now) => {
        const request = requestOf("findOneAndUpdate", name, filter, parseUpdate(update, now, options.arrayFilters), now)
        return findAndChange("findOneAndUpdate", name, request, options, now)
      }),
    findOneAndReplace: (name, filter, document, options = {}) =>
      withNow((now) => {
        const request = requestOf("findOneAndReplace", name, filter, parseReplacement(document), now)
        return findAndChange("findOneAndReplace", name, request, options, now)
      }),
    findOneAndDelete: (name, filter, options = {}) =>
      withFilter("findOneAndDelete", name, filter, (parsed, now) => {
        const operation = "findOneAndDelete"
        const how = take(store, operation, () =>
          Result.all([parseSort(options.sort ?? {}), projecting(options.projection, now)]))
        if (Result.isFailure(how)) {
          return Effect.fail(how.failure)
        }
        const [sort, project] = how.success
        return Effect.map(
          onFirst<Told, never>(operation, name, { filter: parsed, sort }, (collection, found) =>
            Result.map(project(found.document), (told) => {
              writer.remove(collection, found)
              return told
            }), {
            insert: () =>
              Result.succeed({}),
            isFinal: true
          }),
          ({ document }) =>
            document
        )
      }),
    deleteOne: (name, filter) =>
      withFilter(
        "deleteOne",
        name,
        filter,
        (parsed) =>
          onFirst<number, never>("deleteOne", name, { filter: parsed }, remove, {
            insert: () => Result.succeed(0),
            isFinal: true
          })
      ),
    deleteMany: (name, filter) =>
      withFilter(
        "deleteMany",
        name,
        filter,
        (parsed) => Effect.map(onEach<1, never>("deleteMany", name, parsed, remove), (removed) => removed.length)
      )
  }
}

// internal

interface ChangeRequest extends Request {
  readonly update: Update
}

// What was there, unless it is inserted, and what is there now.
interface Changed {
  readonly before: Document | undefined
  readonly after: Document
  readonly isModified: boolean
}

// The answer to a change; when there can't be one, nothing is written.
type Tell<A> = (changed: Changed) => Result.Result<A, Problem>

const noUpdate: UpdateResult = { matchedCount: 0, modifiedCount: 0 }

const tellUpdate: Tell<UpdateResult> = ({ after, before, isModified }) =>
  Result.succeed(
    before === undefined
      ? { ...noUpdate, upsertedId: after["_id"] }
      : { matchedCount: 1, modifiedCount: Number(isModified) }
  )

interface Told {
  readonly document?: Document
}

const projecting = (
  projection: Document | undefined,
  now: number
): Result.Result<(document: Document | undefined) => Result.Result<Told, Problem>, Problem> =>
  Result.map(
    projection === undefined ? Result.succeed(undefined) : parseProjection(projection, now),
    (project: Projection | undefined) => (document) =>
      document === undefined
        ? Result.succeed({})
        : project === undefined
        ? Result.succeed({ document })
        : Result.map(project(document), (document) => ({ document }))
  )
