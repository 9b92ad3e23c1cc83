/**
 * The collection of a model with `versions`: whoever uses it sees documents in the newest form, whatever they are stored in.
 *
 * An operation that concerns fields which are the same in every form that may be stored is the store's own, and one atomic
 * step. Once `upgrade --finish` has completed, that is every operation. Until then a filter, an order or a pipeline about
 * other fields is evaluated in the process: the store gives the documents that may match, each of them once, and they are
 * tested in the newest form. Such an update is computed from the newest form too, and written while the stored document is
 * as it was read.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { aheadField, formField, type ModelLike } from "../../Model/introspection.ts"
import { isDocument } from "../bson/value.ts"
import { fieldOf, fieldsOfUpdate, unchangedSince } from "../collection/documentFields.ts"
import {
  type Aggregation,
  type Handlers,
  type ModelCollection,
  type Operation,
  type Runner
} from "../collection/modelCollection.ts"
import { makeModelCollection, type StoreRunner, viewOf } from "../collection/storedCollection.ts"
import { unreadable, unreadableProblems } from "../collection/unreadable.ts"
import type {
  Document,
  DocumentStore,
  Filter,
  FindOneAndUpdateOptions,
  FindOptions,
  IndexDescription,
  InsertManyResult,
  TakeOptions,
  Update,
  UpdateResult
} from "../DocumentStore.ts"
import { parseFilter } from "../mql/filter/parseFilter.ts"
import { catchRejection, toError } from "../mql/limits/queryProblem.ts"
import { parseUpdate } from "../mql/update/applyUpdate.ts"
import { DuplicateKey, QueryRejected, type ReadError, StoreUnavailable, type WriteError } from "../RepositoryError.ts"
import { makeRetry } from "../store/retryOnConflict.ts"
import { type Changes, changesOf, deferredIndexes } from "./changes.ts"
import { evaluated } from "./evaluate.ts"
import { formOf, formsOf, textOf } from "./forms.ts"
import { markReader, type State } from "./marks.ts"
import { makeSearch, notYet } from "./search.ts"
import { withUniqueValues } from "./uniqueValues.ts"
import { viewedStore } from "./viewedStore.ts"

/**
 * The indexes that can be installed before every document is stored in the newest form.
 *
 * @internal
 */
export const installableIndexes = (
  model: ModelLike,
  store: DocumentStore["Service"],
  indexes: ReadonlyArray<IndexDescription>
): Effect.Effect<ReadonlyArray<IndexDescription>, ReadError> => {
  const forms = formsOf(model)
  return Effect.map(markReader(store, model.modelName, forms).current, (state) => {
    const deferred = new Set(deferredIndexes(forms, indexes, state))
    return indexes.filter((index) => !deferred.has(index))
  })
}

/** @internal */
export const formRunner = (
  model: ModelLike,
  store: DocumentStore["Service"],
  indexes: ReadonlyArray<IndexDescription>
): (stored: StoreRunner) => Runner => {
  const forms = formsOf(model)
  const marks = markReader(store, model.modelName, forms)
  return runnerBy(model, store, {
    fields: forms.fields,
    changesIn: changesOf(forms, indexes),
    current: marks.current,
    formOf,
    lift: (document) => {
      marks.saw(formOf(document))
      return forms.lift(document)
    },
    lower: forms.lower,
    keeping: undefined
  })
}

/**
 * The collection of an earlier form of a model, on the complete collection of its newest form. What the earlier form does not
 * have stays as it is when a document is replaced.
 *
 * @internal
 */
export const viewCollection = (
  view: ModelLike,
  store: DocumentStore["Service"],
  all: ModelCollection,
  storedFilter: (filter: Filter) => Filter
): ModelCollection => {
  const { form, forms, lift } = viewWays(view)
  const numbered = (document: Document): Document => ({ ...document, [formField]: form })
  const shown = new Set(Object.keys(view.store.fields))
  const viewed = viewedStore(store, all)
  const runner = runnerBy(view, viewed, {
    fields: forms.fields.filter((field) => field !== formField && field !== aheadField),
    changesIn: changesOf(forms, [], true),
    current: Effect.succeed({ written: form, earliest: form }),
    formOf: () => form,
    lift,
    lower: (document) => {
      const lifted = forms.lift(numbered(document))
      const problems = unreadableProblems(lifted)
      return problems === undefined
        ? Result.succeed(lifted)
        : Result.fail(textOf(problems))
    },
    keeping: (before, document) => ({
      ...Object.fromEntries(Object.entries(before).filter(([field]) => !shown.has(field))),
      ...document
    })
  })
  return makeModelCollection(view, viewed, storedFilter, { runnerOf: runner })
}

/**
 * The form of the documents that a history records, and how a recorded one is read.
 *
 * @internal
 */
export interface RecordedForm {
  readonly form: number
  readonly lift: (document: Document) => Document
}

/** @internal */
export const recordedFormOf = (model: ModelLike): RecordedForm => {
  if (viewOf(model) === undefined) {
    const { lift, newest } = formsOf(model)
    return { form: newest, lift }
  }
  const { form, forms, lift } = viewWays(model)
  return { form, lift: (document) => lift(forms.lift(document)) }
}

/** The ways between the documents that are stored and those that the runner's users see. */
interface Ways {
  /** Every field that a stored document may have. */
  readonly fields: ReadonlyArray<string>
  readonly changesIn: (state: State) => Changes
  readonly current: Effect.Effect<State, ReadError>
  readonly formOf: (stored: Document) => number
  readonly lift: (stored: Document) => Document
  readonly lower: (document: Document, form: number) => Result.Result<Document, string>
  /** What replaces a document, with what its users do not see of the one before; `undefined` if they see everything. */
  readonly keeping: ((before: Document, document: Document) => Document) | undefined
}

const runnerBy = (
  model: ModelLike,
  store: DocumentStore["Service"],
  { changesIn, current, fields, formOf, keeping, lift, lower }: Ways
): (stored: StoreRunner) => Runner => {
  const name = model.modelName
  const retry = makeRetry()

  /** Runs an operation with what is known of the stored forms. */
  const withState = <A, E>(use: (state: Changes) => Effect.Effect<A, E>): Effect.Effect<A, E | ReadError> =>
    Effect.flatMap(current, (state) => use(changesIn(state)))

  const liftFound = (document: Document | undefined) => document && lift(document)

  const { candidates, countIn, search } = makeSearch(model, store, lift)

  const findIn = (operation: string, changes: Changes, filter: Filter, options: Omit<FindOptions, "filter">) =>
    Stream.runCollect(search(operation, changes, filter, options))

  /** The identifiers of all matches. */
  const idsOf = (changes: Changes, filter: Filter) =>
    Effect.map(findIn("find", changes, filter, { projection: { _id: 1 } }), (found) => found.map(({ _id }) => _id))

  /** Writes a document of the newest form, whose unique values no other one has. */
  const uniquely = <A, E>(changes: Changes, document: Document, write: Effect.Effect<A, E>) =>
    changes.deferred.length === 0 ? write : withUniqueValues(
      store,
      name,
      changes.deferred,
      document,
      (filter) => findIn("find", changes, filter, { limit: 1, projection: { _id: 1 } }),
      write
    )

  const liftOf = (projection: Document | undefined) => projection === undefined ? lift : Function.identity<Document>

  /** The document as it is stored. */
  const lowered = (operation: string, document: Document, form: number): Effect.Effect<Document, QueryRejected> =>
    Effect.mapError(
      Effect.fromResult(lower(document, form)),
      (detail) => new QueryRejected({ operation, detail: keeping === undefined ? notYet(model, detail) : detail })
    )

  return ({ pipeline: storedPipeline, runner: base, whole }) => {
    /** The first match as it is stored. */
    const firstMatch = Effect.fnUntraced(function*(changes: Changes, filter: Filter, sort?: FindOptions["sort"]) {
      const [found] = yield* findIn("find", changes, filter, { sort, limit: 1 })
      return found === undefined ? undefined : yield* store.findById(name, found["_id"])
    })

    /**
     * Writes the first match, or the match with the identifier, while the stored document is as it was read. `change` gives the
     * document to store, `undefined` if nothing changes, or `"remove"`.
     */
    const writeMatch = (
      operation: string,
      filter: Filter,
      target: { readonly id: unknown } | { readonly sort: FindOptions["sort"] },
      change: (
        lifted: Document,
        parsed: ParsedFilter,
        form: number
      ) => Effect.Effect<Document | undefined | "remove", WriteError>
    ): Effect.Effect<Written | undefined, WriteError> => {
      const attempt = withState((changes) =>
        Effect.gen(function*() {
          const stored = "id" in target
            ? yield* store.findById(name, target.id)
            : yield* firstMatch(changes, filter, target.sort)
          if (stored === undefined) return undefined
          const before = lift(stored)
          const problems = unreadableProblems(before)
          if (problems !== undefined) return yield* unwritable(model, operation, stored)
          const parsed = yield* matching(operation, filter, before)
          if (parsed === undefined) return "id" in target ? undefined : yield* Effect.fail(new Changed())
          // A document stays at least in the form in which it is stored.
          const after = yield* change(before, parsed, Math.max(changes.written, formOf(stored)))
          if (after === undefined) return { before, after: before, isChanged: false }
          const isAsRead: Filter = { ...unchangedSince(stored, fields), _id: stored["_id"] }
          const isDone = after === "remove"
            ? (yield* store.deleteOne(name, isAsRead)) > 0
            : (yield* uniquely(changes, lift(after), store.replaceOne(name, isAsRead, after))).matchedCount > 0
          if (!isDone) return yield* Effect.fail(new Changed())
          return { before, after: after === "remove" ? before : lift(after), isChanged: true }
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
      operation: Operation<"updateOne" | "findOneAndUpdate">,
      target: Parameters<typeof writeMatch>[2]
    ): Effect.Effect<Written | undefined, WriteError> => {
      const { kind, options, update } = operation
      return Effect.flatMap(
        parsedUpdate(kind, update, options.arrayFilters),
        (parsed) =>
          writeMatch(kind, whole(operation), target, (document, filter, form) =>
            Effect.flatMap(
              Effect.mapError(Effect.fromResult(parsed.apply(document, filter)), (problem) => toError(problem, kind)),
              (changed) => changed === undefined ? Effect.undefined : lowered(kind, changed, form)
            ))
      )
    }

    /** Inserts one by one: a document that is rejected ends the transaction that it is part of. */
    const insertEach = Effect.fnUntraced(function*(documents: ReadonlyArray<Document>, isOrdered: boolean) {
      const failures: Array<InsertManyResult["failures"][number]> = []
      for (const [index, document] of documents.entries()) {
        const result = yield* Effect.result(handlers.insertOne({ kind: "insertOne", document }))
        if (Result.isSuccess(result)) continue
        const error = result.failure
        if (error._tag === "AccessDenied" || error._tag === "ValidationException") return yield* Effect.die(error)
        if (error._tag !== "DuplicateKey" && error._tag !== "QueryRejected") return yield* error
        failures.push({ index, error })
        if (isOrdered) return { insertedCount: index, failures }
      }
      return { insertedCount: documents.length - failures.length, failures }
    })

    const handlers: Handlers = {
      findById: (operation) =>
        withState((changes) => {
          const filter = whole({ conditions: operation.conditions })
          if (!changes.concernFilter(filter)) return Effect.map(base.run(operation), liftFound)
          return Effect.flatMap(store.findById(name, operation.id, operation.options), (stored) => {
            if (stored === undefined) return Effect.undefined
            const document = lift(stored)
            return unreadableProblems(document) !== undefined
              ? Effect.succeed(document)
              : Effect.map(matching("findById", filter, document), (parsed) => parsed && document)
          })
        }),
      find: (operation) =>
        withState((changes) => {
          const [filter, { take, ...options }] = [whole(operation), operation.options]
          const { projection } = options
          if (isNative(changes, filter, options)) {
            const lifting = liftOf(projection)
            return Effect.map(
              base.run({ ...operation, options: { ...options, ...taking(take, lifting) } }),
              (all) => all.map(lifting)
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
          const [filter, { take, ...options }] = [whole(operation), operation.options]
          if (isNative(changes, filter, options)) {
            const lifting = liftOf(options.projection)
            return Effect.map(
              base.run({ ...operation, options: { ...options, ...taking(take, lifting) } }),
              ({ documents, total }) => ({ documents: documents.map(lifting), total })
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
          const source = search("distinct", changes, filter, {})
          return Effect.map(
            Stream.runCollect(evaluated("distinct", source, stages, { reason: notYet(model, "") })),
            (values) => values.map(({ _id }) => _id)
          )
        }),
      insertOne: ({ document }) =>
        withState((changes) =>
          Effect.flatMap(
            lowered("insert", document, changes.written),
            (stored) => uniquely(changes, document, namingFields(model, store.insertOne(name, stored)))
          )
        ),
      insertMany: ({ documents, options }) =>
        withState(Effect.fnUntraced(function*(changes) {
          if (changes.deferred.length > 0) return yield* insertEach(documents, options?.ordered !== false)
          const all = documents.map((document) => lower(document, changes.written))
          const isOrdered = options?.ordered !== false
          const failed = all.flatMap((result, index) =>
            Result.isFailure(result)
              ? [{ index, error: new QueryRejected({ operation: "insert", detail: notYet(model, result.failure) }) }]
              : []
          )
          const [first] = failed
          const indexes = [...all.keys()].filter((i) =>
            isOrdered ? i < (first?.index ?? Infinity) : Result.isSuccess(all[i]!)
          )
          const inserted = yield* store.insertMany(
            name,
            indexes.map((i) => Result.getOrThrow(all[i]!)),
            options
          )
          const failures: InsertManyResult["failures"] = inserted.failures.map(({ error, index }) => ({
            index: indexes[index]!,
            error
          }))
          return {
            insertedCount: inserted.insertedCount,
            failures: isOrdered
              ? [...failures, ...failed].slice(0, 1)
              : [...failures, ...failed].toSorted((one, other) => one.index - other.index)
          }
        })),
      replaceOne: (operation) =>
        withState((changes) => {
          const [filter, { document, options }] = [whole(operation), operation]
          if (keeping === undefined && !changes.concernFilter(filter)) {
            return Effect.flatMap(
              lowered("replace", document, changes.written),
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
                (before, _, form) => lowered("replace", keeping?.(before, document) ?? document, form)
              )
            ),
            (written): Effect.Effect<UpdateResult, WriteError> =>
              written !== undefined
                ? Effect.succeed({ matchedCount: 1, modifiedCount: 1 })
                : options?.upsert !== true
                ? Effect.succeed(noUpdate)
                : Effect.as(handlers.insertOne({ kind: "insertOne", document }), {
                  ...noUpdate,
                  upsertedId: document["_id"]
                })
          )
        }),
      updateOne: (operation) =>
        withState((changes) => {
          const filter = whole(operation)
          return isNativeUpdate(changes, filter, operation.update, undefined)
            ? namingFields(model, base.run(operation))
            : Effect.map(namingFields(model, update(operation, targetOf(filter))), (written) => resultOf([written]))
        }),
      updateMany: (operation) =>
        withState((changes) => {
          const filter = whole(operation)
          if (isNativeUpdate(changes, filter, operation.update, undefined)) {
            return namingFields(model, base.run(operation))
          }
          return Effect.flatMap(idsOf(changes, filter), (ids) =>
            Effect.map(
              Effect.forEach(ids, (id) => namingFields(model, update({ ...operation, kind: "updateOne" }, { id }))),
              resultOf
            ))
        }),
      findOneAndUpdate: (operation) =>
        withState((changes) => {
          const [filter, { options }] = [whole(operation), operation]
          const { projection, returnDocument, sort } = options
          if (isNativeUpdate(changes, filter, operation.update, sort) && projection === undefined) {
            return Effect.map(namingFields(model, base.run(operation)), liftFound)
          }
          return Effect.map(
            namingFields(model, update(operation, targetOf(filter, sort))),
            (written) => returnDocument === "after" ? written?.after : written?.before
          )
        }),
      findOneAndDelete: (operation) =>
        withState((changes) => {
          const filter = whole(operation)
          return changes.concernFilter(filter)
            ? Effect.map(remove(filter, targetOf(filter)), (written) => written?.before)
            : Effect.map(base.run(operation), liftFound)
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
          return Effect.flatMap(idsOf(changes, filter), (ids) =>
            Effect.map(
              Effect.forEach(ids, (id) => remove(filter, { id })),
              (written) => written.filter((one) => one !== undefined).length
            ))
        })
    }

    const remove = (filter: Filter, target: Parameters<typeof writeMatch>[2]) =>
      Effect.catchTag(
        writeMatch("delete", filter, target, () => Effect.succeed("remove" as const)),
        ["DuplicateKey", "AccessDenied", "ValidationException"],
        // A deletion breaks no rule.
        Effect.die
      )

    const aggregate = (changes: Changes, operation: Aggregation): Stream.Stream<Document, ReadError> => {
      const stages = storedPipeline(operation)
      const [first, ...others] = stages
      const filter = isDocument(first?.["$match"]) ? first["$match"] : undefined
      const source = Stream.map(candidates(changes, filter ?? {}, operation.options), withoutNumber)
      const rest = filter === undefined ? stages : [...changes.searchFor(filter).stages, ...others]
      return evaluated("aggregate", source, rest, {
        ...operation.options,
        reason: notYet(model, "a pipeline that reaches other collections needs documents of one form")
      })
    }

    return {
      run: (operation) => handlers[operation.kind](operation),
      runStream: (operation) =>
        Stream.unwrap(Effect.map(current, (state) => {
          const changes = changesIn(state)
          if (operation.kind === "aggregate") {
            return !changes.isMixed
              ? Stream.map(base.runStream(operation), withoutNumber)
              : aggregate(changes, operation)
          }
          const filter = whole(operation)
          return isNative(changes, filter, operation.options)
            ? Stream.map(base.runStream(operation), liftOf(operation.options.projection))
            : search("stream", changes, filter, operation.options)
        }))
    }
  }
}

// internal

/** How documents of the newest form are seen in an earlier one. */
const viewWays = (view: ModelLike) => {
  const { form = 1, model = view } = viewOf(view) ?? {}
  const forms = formsOf(model)
  const known = new WeakMap<Document, Document>()
  const lower = (document: Document): Document =>
    unreadableProblems(document) !== undefined ? document : Result.match(forms.lower(document, form), {
      onFailure: (message) => unreadable(view, document, [{ field: formField, validator: "Form", message }]),
      onSuccess: (lowered) => ({ ...lowered, [formField]: form })
    })
  const lift = (document: Document): Document => {
    const made = known.get(document) ?? lower(document)
    known.set(document, made)
    return made
  }
  return { form, forms, lift }
}

type ParsedFilter = Parameters<Result.Result.Success<ReturnType<typeof parseUpdate>>["apply"]>[1]

interface Written {
  readonly before: Document
  readonly after: Document
  readonly isChanged: boolean
}

/** Occurs when a document was changed after it was read. */
class Changed {
  readonly _tag = "Changed"
}

const isSelection = (projection: Document): boolean =>
  Object.entries(projection).every(([path, value]) => value === 1 || value === true || path === "_id") &&
  Object.keys(projection).some((path) => path !== "_id" || projection[path] === 1 || projection[path] === true)

/** The document that a filter on the identifier selects, or the first match. */
const targetOf = (filter: Filter, sort?: FindOneAndUpdateOptions["sort"]) => {
  const id = filter["_id"]
  const isOne = id !== undefined && id !== null &&
    !(isDocument(id) && Object.keys(id).some((key) => key.startsWith("$")))
  return isOne ? { id } : { sort }
}

/** The option `take` for documents that are lifted first. */
const taking = (take: TakeOptions["take"], lifting: (document: Document) => Document): Pick<TakeOptions, "take"> =>
  take === undefined ? {} : { take: (all) => take(all.map(lifting)) }

/** Whether the store can run a find by itself. A projection then selects fields that are the same in every form. */
const isNative = (changes: Changes, filter: Filter, { projection, sort }: Omit<FindOptions, "filter">): boolean =>
  !changes.concernFilter(filter) && !changes.concern(Object.keys(sort ?? {})) &&
  (projection === undefined || isSelection(projection) && !changes.concern(Object.keys(projection)))

const isNativeUpdate = (changes: Changes, filter: Filter, update: Update, sort: FindOptions["sort"]): boolean =>
  !changes.concernFilter(filter) && !changes.concern(fieldsOfUpdate(update)) &&
  !changes.concern(Object.keys(sort ?? {}))

/** The parsed filter if it matches the document; else `undefined`. */
const matching = (operation: string, filter: Filter, document: Document) =>
  Effect.flatMap(parsedFilter(operation, filter), (parsed) =>
    Effect.mapError(
      Effect.fromResult(Result.map(catchRejection(() => parsed.matches(document)), (is) => is ? parsed : undefined)),
      (problem) => toError(problem, operation)
    ))

/** The rejection of a unique value does not name a field of an earlier form. */
const namingFields = <A, E>(model: ModelLike, write: Effect.Effect<A, E>): Effect.Effect<A, E | DuplicateKey> =>
  Effect.mapError(
    write,
    (error) =>
      error instanceof DuplicateKey && error.fields.some((field) => !isFieldOf(model, field))
        ? new DuplicateKey({ collection: error.collection, index: error.index, fields: [] })
        : error
  )

const withoutNumber = (document: Document): Document => {
  if (!Object.hasOwn(document, formField)) return document
  const { [formField]: _, [aheadField]: __, ...fields } = document
  return fields
}

const isFieldOf = (model: ModelLike, path: string): boolean =>
  path === "_id" || Object.hasOwn(model.store.fields, fieldOf(path))

const parsedFilter = (operation: string, filter: Filter) =>
  Effect.flatMap(
    Clock.currentTimeMillis,
    (now) => Effect.mapError(Effect.fromResult(parseFilter(filter, { now })), (problem) => toError(problem, operation))
  )

const parsedUpdate = (operation: string, update: Update, arrayFilters: ReadonlyArray<Filter> | undefined) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.mapError(
      Effect.fromResult(parseUpdate(update, { now }, arrayFilters)),
      (problem) => toError(problem, operation)
    ))

const noUpdate: UpdateResult = { matchedCount: 0, modifiedCount: 0 }

const resultOf = (written: ReadonlyArray<Written | undefined>): UpdateResult => ({
  matchedCount: written.filter((one) => one !== undefined).length,
  modifiedCount: written.filter((one) => one?.isChanged === true).length
})

const unwritable = ({ modelName }: ModelLike, operation: string, stored: Document): QueryRejected =>
  new QueryRejected({
    operation,
    detail: `${modelName} ${String(stored["_id"])} is stored in form ${
      formOf(stored)
    }, and has no way up: see \`appkernel check\``
  })
