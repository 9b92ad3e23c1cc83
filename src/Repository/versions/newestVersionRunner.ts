/**
 * The collection of a model with `versions`: whoever uses it sees documents in the newest version, whatever they are stored in.
 *
 * An operation that concerns fields which are the same in every version that may be stored is the store's own, and one atomic
 * step. Once `upgrade --finish` has completed, that is every operation. Until then a filter, an order or a pipeline about
 * other fields is evaluated in the process: the store gives the documents that may match, each of them once, and they are
 * tested in the newest version. Such an update is computed from the newest version too, and written while the stored document is
 * as it was read.
 */
import { aggregate } from "@appkernel/mql"
import { isDocument } from "@appkernel/mql/values"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { keptField, type ModelLike, modelVersionField } from "../../Model/internal.ts"
import { insertAdmitted, insertEach } from "../collection/bulkInserts.ts"
import { fieldsOfUpdate, topFieldOf } from "../collection/documentFields.ts"
import type { Aggregation, Handlers, Runner } from "../collection/modelCollection.ts"
import type { StoreRunner } from "../collection/storedCollection.ts"
import type {
  Document,
  DocumentStore,
  Filter,
  FindOptions,
  IndexDescription,
  TakeOptions,
  Update,
  UpdateResult
} from "../DocumentStore.ts"
import { placeOf, unreadableField, unreadableProblems } from "../query/unreadable.ts"
import { DuplicateKey, QueryRejected, type ReadError, type WriteError } from "../RepositoryError.ts"
import { agreementReader } from "./agreement.ts"
import { type Changes, changesOf } from "./changes.ts"
import { type Conversions, makeMatchWriter, matching, targetOf, unwritable, type Written } from "./matchWriter.ts"
import { modelVersionOf, modelVersionsOf } from "./modelVersions.ts"
import { makeSearch, notYet } from "./search.ts"
import { placesOf } from "./versionIndexes.ts"

export const versionRunner = (
  model: ModelLike,
  store: DocumentStore["Service"],
  indexes: ReadonlyArray<IndexDescription>
): (stored: StoreRunner) => Runner => {
  const versions = modelVersionsOf(model)
  const agreement = agreementReader(store, model.modelName, versions)
  return runnerBy(model, store, {
    fields: versions.fields,
    changesIn: changesOf(versions, indexes),
    current: agreement.current,
    modelVersionOf,
    upgrade: (document) => {
      agreement.saw(modelVersionOf(document))
      return versions.upgrade(document)
    },
    downgrade: (operation, document, version) =>
      Effect.mapError(
        Effect.fromResult(versions.downgrade(document, version)),
        (detail) => new QueryRejected({ operation, detail: notYet(model, detail) })
      ),
    storing: agreement.storing,
    placesOf: (index, earliest) => placesOf(versions, index, earliest),
    keeping: undefined
  })
}

export const runnerBy = (
  model: ModelLike,
  store: DocumentStore["Service"],
  conversions: Conversions
): (stored: StoreRunner) => Runner => {
  const name = model.modelName
  const { changesIn, current, keeping, storing, upgrade, downgrade } = conversions

  /** Runs an operation with what is known of the stored versions. */
  const withState = <A, E>(use: (state: Changes) => Effect.Effect<A, E>): Effect.Effect<A, E | ReadError> =>
    Effect.flatMap(current, (state) => use(changesIn(state)))

  const upgradeFound = (document: Document | undefined) => document && upgrade(document)

  const { candidates, countIn, search } = makeSearch(model, store, upgrade)

  const findIn = (operation: string, changes: Changes, filter: Filter, options: Omit<FindOptions, "filter">) =>
    Stream.runCollect(search(operation, changes, filter, options))

  /** The identifiers of all matches. Fails if one of them can't be read, so that none is written. */
  const idsOf = (operation: string, changes: Changes, filter: Filter) =>
    Stream.runCollect(
      Stream.mapEffect(search("find", changes, filter, {}), (document): Effect.Effect<unknown, QueryRejected> =>
        unreadableProblems(document) === undefined
          ? Effect.succeed(document["_id"])
          : Effect.fail(unwritable(model, operation, document)))
    )

  const { remove, uniquely, update, writeMatch } = makeMatchWriter(model, store, conversions, { findIn, withState })

  // What is written by an earlier version is computed, so that it is tested as a whole.
  const isNativeUpdate = (changes: Changes, filter: Filter, update: Update, sort?: FindOptions["sort"]): boolean =>
    keeping === undefined && !changes.concernFilter(filter) && !changes.concernUpdate(fieldsOfUpdate(update)) &&
    !changes.concern(Object.keys(sort ?? {}))

  const upgradeOf = (projection: Document | undefined) =>
    projection === undefined ? upgrade : Function.identity<Document>

  return ({ pipeline: storedPipeline, runner: base, whole }) => {
    const handlers: Handlers = {
      findById: (operation) =>
        withState((changes) => {
          const filter = whole({ conditions: operation.conditions })
          if (!changes.concernFilter(filter)) return Effect.map(base.run(operation), upgradeFound)
          const { isReadableOnly, stored: candidates } = changes.searchFor(filter)
          const options = { ...operation.options, filter: candidates }
          return Effect.flatMap(store.findById(name, operation.id, options), (stored) => {
            if (stored === undefined) return Effect.undefined
            const document = upgrade(stored)
            return unreadableProblems(document) !== undefined
              ? Effect.succeed(isReadableOnly ? undefined : document)
              : Effect.map(matching("findById", filter, document), (parsed) => parsed && document)
          })
        }),
      find: (operation) =>
        withState((changes) => {
          const [filter, { take, ...options }] = [whole(operation), operation.options ?? {}]
          const { projection } = options
          if (isNative(changes, filter, options)) {
            const upgrading = upgradeOf(projection)
            return Effect.map(
              base.run({ ...operation, options: { ...options, ...taking(take, upgrading) } }),
              (all) => all.map(upgrading)
            )
          }
          const found = search("find", changes, filter, options)
          return take === undefined ? Stream.runCollect(found) : Effect.as(
            Stream.runForEachWhile(Stream.chunks(found), (all) => Effect.sync(() => take(all))),
            []
          )
        }),
      findAndCount: (operation) =>
        withState((changes) => {
          const [filter, { take, ...options }] = [whole(operation), operation.options ?? {}]
          if (isNative(changes, filter, options)) {
            const upgrading = upgradeOf(options.projection)
            return Effect.map(
              base.run({ ...operation, options: { ...options, ...taking(take, upgrading) } }),
              ({ documents, total }) => ({ documents: documents.map(upgrading), total })
            )
          }
          return Effect.all({
            documents: Effect.map(findIn("findAndCount", changes, filter, options), (found) =>
              take === undefined ? found : (take(found), [])),
            total: countIn(changes, filter, options)
          })
        }),
      count: (operation) =>
        withState((changes) => {
          const filter = whole(operation)
          return changes.concernFilter(filter) ? countIn(changes, filter, operation.options ?? {}) : base.run(operation)
        }),
      estimatedCount: (operation) =>
        withState((changes) => {
          const filter = whole(operation)
          return changes.concernFilter(filter) ? countIn(changes, filter, {}) : base.run(operation)
        }),
      distinct: (operation) =>
        withState((changes) => {
          const [filter, { path }] = [whole(operation), operation]
          if (!changes.concernFilter(filter) && !changes.concern([path])) return base.run(operation)
          // The values of a list are those of its items.
          const stages = [
            { $project: { value: `$${path}` } },
            { $unwind: "$value" },
            { $group: { _id: "$value" } }
          ]
          const source = Stream.map(search("distinct", changes, filter, {}), placeOf)
          return Effect.map(
            Stream.runCollect(aggregate(source, stages, { operation: "distinct", elsewhere: notYet(model, "") })),
            (values) => values.map(({ _id }) => _id)
          )
        }),
      insertOne: ({ document }) =>
        withState((changes) =>
          Effect.flatMap(
            downgrade("insert", document, changes.written, undefined),
            (stored) => uniquely(changes, document, namingFields(model, store.insertOne(name, stored)))
          )
        ),
      insertMany: ({ documents, options }) =>
        withState(Effect.fnUntraced(function*(changes) {
          const isOrdered = options?.ordered !== false
          if (changes.deferred.length > 0) {
            return yield* insertEach(
              documents,
              isOrdered,
              (document) => handlers.insertOne({ name: "insertOne", document })
            )
          }
          yield* storing(changes.written)
          const all = yield* Effect.forEach(
            documents,
            (document) => Effect.result(downgrade("insert", document, changes.written, undefined))
          )
          return yield* insertAdmitted(
            all.map((result) => Result.isFailure(result) ? result.failure : undefined),
            isOrdered,
            (indexes) => store.insertMany(name, indexes.map((i) => Result.getOrThrow(all[i]!)), options)
          )
        })),
      replaceOne: (operation) =>
        withState((changes) => {
          const [filter, { document, options }] = [whole(operation), operation]
          if (keeping === undefined && !changes.concernFilter(filter)) {
            return Effect.flatMap(
              downgrade("replace", document, changes.written, undefined),
              (stored) =>
                uniquely(changes, document, namingFields(model, store.replaceOne(name, filter, stored, options)))
            )
          }
          return Effect.flatMap(
            namingFields(
              model,
              writeMatch(
                "replace",
                filter,
                targetOf(filter),
                (before) => Effect.succeed(keeping?.(before, document) ?? document)
              )
            ),
            (written): Effect.Effect<UpdateResult, WriteError> =>
              written !== undefined
                ? Effect.succeed({ matchedCount: 1, modifiedCount: 1 })
                : options?.upsert !== true
                ? Effect.succeed(noUpdate)
                : Effect.as(handlers.insertOne({ name: "insertOne", document }), {
                  ...noUpdate,
                  upsertedId: document["_id"]
                })
          )
        }),
      updateOne: (operation) =>
        withState((changes) => {
          const filter = whole(operation)
          return isNativeUpdate(changes, filter, operation.update)
            ? namingFields(model, base.run(operation))
            : Effect.map(namingFields(model, update(operation, filter, targetOf(filter))), (written) =>
              resultOf([written]))
        }),
      updateMany: (operation) =>
        withState((changes) => {
          const filter = whole(operation)
          if (isNativeUpdate(changes, filter, operation.update)) {
            return namingFields(model, base.run(operation))
          }
          return Effect.flatMap(idsOf("updateMany", changes, filter), (ids) =>
            Effect.map(
              Effect.forEach(ids, (id) =>
                namingFields(model, update({ ...operation, name: "updateOne" }, filter, { id }))),
              resultOf
            ))
        }),
      findOneAndUpdate: (operation) =>
        withState((changes) => {
          const filter = whole(operation)
          const { projection, returnDocument, sort } = operation.options ?? {}
          if (isNativeUpdate(changes, filter, operation.update, sort) && projection === undefined) {
            return Effect.map(namingFields(model, base.run(operation)), upgradeFound)
          }
          return Effect.map(
            namingFields(model, update(operation, filter, targetOf(filter, sort))),
            (written) => returnDocument === "after" ? written?.after : written?.before
          )
        }),
      findOneAndDelete: (operation) =>
        withState((changes) => {
          const filter = whole(operation)
          return changes.concernFilter(filter)
            ? Effect.map(remove(filter, targetOf(filter)), (written) => written?.before)
            : Effect.map(base.run(operation), upgradeFound)
        }),
      deleteOne: (operation) =>
        withState((changes) => {
          const filter = whole(operation)
          return changes.concernFilter(filter)
            ? Effect.map(remove(filter, targetOf(filter)), (written) => written === undefined ? 0 : 1)
            : base.run(operation)
        }),
      deleteMany: (operation) =>
        withState((changes) => {
          const filter = whole(operation)
          if (!changes.concernFilter(filter)) return base.run(operation)
          return Effect.flatMap(idsOf("deleteMany", changes, filter), (ids) =>
            Effect.map(
              Effect.forEach(ids, (id) => remove(filter, { id })),
              (written) => written.filter((one) => one !== undefined).length
            ))
        })
    }

    const aggregation = (changes: Changes, operation: Aggregation): Stream.Stream<Document, ReadError> => {
      const stages = storedPipeline(operation)
      const [first, ...others] = stages
      if (first !== undefined && Object.hasOwn(first, "$geoNear")) {
        const detail = notYet(model, "$geoNear needs documents of one form")
        return Stream.fail(new QueryRejected({ operation: "aggregate", detail }))
      }
      const filter = isDocument(first?.["$match"]) ? first["$match"] : undefined
      const rest = filter === undefined ? stages : [...changes.searchFor(filter).stages, ...others]
      const isTested = filter !== undefined && changes.concernFilter(filter)
      const source = Stream.map(
        candidates(changes, filter ?? {}, operation.options),
        // The first stage leaves out what can't be read.
        isTested ? withoutNumber : inPipeline
      )
      return aggregate(source, rest, {
        ...operation.options,
        elsewhere: notYet(model, "a pipeline that reaches other collections needs documents of one form")
      })
    }

    return {
      run: (operation) => handlers[operation.name](operation),
      runStream: (operation) =>
        Stream.unwrap(Effect.map(current, (state) => {
          const changes = changesIn(state)
          if (operation.name === "aggregate") {
            return !changes.isMixed
              ? Stream.map(base.runStream(operation), withoutNumber)
              : aggregation(changes, operation)
          }
          const filter = whole(operation)
          const { options = {} } = operation
          return isNative(changes, filter, options)
            ? Stream.map(base.runStream(operation), upgradeOf(options.projection))
            : search("stream", changes, filter, options)
        }))
    }
  }
}

// internal

const isSelection = (projection: Document): boolean =>
  Object.entries(projection).every(([path, value]) => value === 1 || value === true || path === "_id") &&
  Object.keys(projection).some((path) => path !== "_id" || projection[path] === 1 || projection[path] === true)

/** The option `take` for documents that are upgraded first. */
const taking = (take: TakeOptions["take"], upgrading: (document: Document) => Document): Pick<TakeOptions, "take"> =>
  take === undefined ? {} : { take: (all) => take(all.map(upgrading)) }

/** Whether the store can run a find by itself. A projection then selects fields that are the same in every version. */
const isNative = (changes: Changes, filter: Filter, { projection, sort }: Omit<FindOptions, "filter">): boolean =>
  !changes.concernFilter(filter) && !changes.concern(Object.keys(sort ?? {})) &&
  (projection === undefined || isSelection(projection) && !changes.concern(Object.keys(projection)))

/** The rejection of a unique value does not name a field of an earlier version. */
const namingFields = <A, E>(model: ModelLike, write: Effect.Effect<A, E>): Effect.Effect<A, E | DuplicateKey> =>
  Effect.mapError(
    write,
    (error) =>
      error instanceof DuplicateKey && error.fields.some((field) => !isFieldOf(model, field))
        ? new DuplicateKey({ collection: error.collection, index: error.index, fields: [] })
        : error
  )

/** A document as pipelines have it. One that can't be read has what is stored in fields that have not changed. */
const inPipeline = (document: Document): Document => {
  if (unreadableProblems(document) === undefined) return withoutNumber(document)
  const { [unreadableField]: _, ...place } = placeOf(document)
  return withoutNumber(place)
}

const withoutNumber = (document: Document): Document => {
  if (!Object.hasOwn(document, modelVersionField)) return document
  const { [modelVersionField]: _, [keptField]: __, ...fields } = document
  return fields
}

const isFieldOf = (model: ModelLike, path: string): boolean =>
  path === "_id" || Object.hasOwn(model.store.fields, topFieldOf(path))

const noUpdate: UpdateResult = { matchedCount: 0, modifiedCount: 0 }

const resultOf = (written: ReadonlyArray<Written | undefined>): UpdateResult => ({
  matchedCount: written.filter((one) => one !== undefined).length,
  modifiedCount: written.filter((one) => one?.isChanged === true).length
})
