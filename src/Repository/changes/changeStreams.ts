/**
 * The streams of a model's changes and of its lists. It loads the query language, so it is loaded by the first stream.
 *
 * A list is read after the place where its changes begin is known, and is compared with the changes since: so its state is that
 * of a place in the log, and no change is lost or told twice.
 */
import { conjunctionOf } from "@appkernel/document-store/shared"
import { aggregate } from "@appkernel/mql"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Stream from "effect/Stream"
import { managedField } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { AccessDecision } from "../collection/accessDecision.ts"
import { type Deleted, deletionConditions, type SortOptions } from "../collection/deletedDocuments.ts"
import type { DocumentCodec } from "../collection/documentCodec.ts"
import type { ModelCollection, Scope } from "../collection/modelCollection.ts"
import { modelMatcher, rejectUnsuitable } from "../collection/rowMatcher.ts"
import type { Document, DocumentStore, Filter, Position, Sort, StoredChange } from "../DocumentStore.ts"
import * as Query from "../Query.ts"
import { instanceIdOf } from "../query/bsonForm.ts"
import { type PositionGone, QueryRejected, type ReadError } from "../RepositoryError.ts"
import type { AnyChange, ChangeEvent, ChangesOptions, ListEvent } from "./changeEvents.ts"
import { type ChangeView, sameFor, type SeenChange, seenChange } from "./changeViews.ts"
import { listsAt } from "./listsAt.ts"

export interface ChangeContext<M extends Model.Any> {
  readonly model: M
  readonly documents: ModelCollection
  readonly store: DocumentStore["Service"]
  readonly codec: DocumentCodec<M["Type"]>
  readonly upgraded: (change: StoredChange) => StoredChange
}

export const changes = <M extends Model.Any>(
  context: ChangeContext<M>,
  { after, deleted, where }: ChangesOptions<M> = {}
): Stream.Stream<ChangeEvent<M>, PositionGone | ReadError> =>
  Stream.unwrap(Effect.map(viewOf(context, Query.toFilter(context.model, where), deleted), (view) =>
    Stream.map(
      seenAfter(context, view, after),
      ({ change, seen }): ChangeEvent<M> => ({ ...factsOf(context.model, change), ...seen })
    )))

export const liveChanges = <M extends Model.Any>(
  context: ChangeContext<M>,
  where: Query.Where<M> | undefined,
  { deleted, sort }: SortOptions<M> = {}
): Stream.Stream<ListEvent<M>, ReadError> => {
  const { model } = context
  const filter = Query.toFilter(model, where)
  const order: Sort = sort === undefined ? { _id: 1 } : Query.toSort(model, sort)
  const scope: Scope | undefined = deleted === undefined ? undefined : { deleted }
  const list: Stream.Stream<ListEvent<M>, PositionGone | ReadError> = Stream.unwrap(Effect.gen(function*() {
    const view = yield* viewOf(context, filter, deleted)
    const { documents, position } = yield* snapshot(context, view, { filter, order, scope })
    const items = yield* Effect.forEach(documents, (document) => instanceOf(context, document))
    const state: ListEvent<M> = { event: "state", items: items.filter((item) => item !== undefined), position }
    return Stream.concat(
      Stream.succeed(state),
      Stream.map(seenAfter(context, view, position), ({ change, seen }): ListEvent<M> => {
        const facts = factsOf(model, change)
        return seen.operation === "delete"
          ? { ...facts, event: "leave" }
          : { ...facts, event: seen.operation === "insert" ? "enter" : "change", item: seen.after }
      })
    )
  }))
  // What was missed can't be told, so the list begins anew.
  return Stream.catchTag(list, "PositionGone", () => liveChanges(context, where, { deleted, sort }))
}

// internal

type Seen<A> =
  | { readonly operation: "insert"; readonly after: A }
  | { readonly operation: "update"; readonly before: A; readonly after: A }
  | { readonly operation: "delete"; readonly before: A | undefined }

const viewOf = Effect.fnUntraced(function*<M extends Model.Any>(
  { model }: ChangeContext<M>,
  where: Filter,
  deleted: Deleted = "exclude"
): Effect.fn.Return<ChangeView, ReadError> {
  const reason = rejectUnsuitable(where)
  if (reason !== undefined) {
    return yield* new QueryRejected({ operation: "changes", detail: reason.replaceAll("in a rule", "here") })
  }
  const decision = yield* AccessDecision
  const own = decision === undefined ? undefined : yield* decision.of(model)
  const deletedField = managedField(model, "deleted")
  const deletion = deletedField === undefined ? undefined : deletionConditions(deletedField)[deleted]
  const sees = modelMatcher(model, conjunctionOf(own?.rows.rows("read"), deletion, where))
  return { sees, isSame: sameFor(own) }
})

/** What a view sees of the changes after a place. */
const seenAfter = <M extends Model.Any>(
  context: ChangeContext<M>,
  view: ChangeView,
  after: Position | undefined
): Stream.Stream<{ readonly change: StoredChange; readonly seen: Seen<M["Type"]> }, PositionGone | ReadError> =>
  context.store.changes.stream([context.model.modelName], { after }).pipe(
    Stream.flatMap(({ changes }) => Stream.fromIterable(changes)),
    Stream.mapEffect((stored) => {
      const change = context.upgraded(stored)
      const seen = seenChange(view, change)
      return seen === undefined
        ? Effect.undefined
        : Effect.map(instancesOf(context, seen), (seen) => seen === undefined ? undefined : { change, seen })
    }),
    Stream.filter((one) => one !== undefined)
  )

/** The documents as instances. A state that the model does not accept is one that nobody sees. */
const instancesOf = Effect.fnUntraced(function*<M extends Model.Any>(
  context: ChangeContext<M>,
  seen: SeenChange
): Effect.fn.Return<Seen<M["Type"]> | undefined> {
  const before = seen.operation === "insert" || seen.before === undefined
    ? undefined
    : yield* instanceOf(context, seen.before)
  if (seen.operation === "delete") return { operation: "delete", before }
  const after = yield* instanceOf(context, seen.after)
  if (after === undefined) return before === undefined ? undefined : { operation: "delete", before: undefined }
  return before === undefined ? { operation: "insert", after } : { operation: "update", before, after }
})

const instanceOf = <M extends Model.Any>(
  { codec }: ChangeContext<M>,
  document: Document
): Effect.Effect<M["Type"] | undefined> =>
  Effect.catch(
    codec.fromDocument(document),
    (invalid) => Effect.as(Effect.logWarning("A stream of changes leaves out a document", invalid), undefined)
  )

const factsOf = <M extends Model.Any>(
  model: M,
  { id, position, time, transaction, who }: StoredChange
): AnyChange<M> => ({
  // The schema of the identifier decodes to the identifier's type.
  id: instanceIdOf(model)(id) as Model.Id<M>,
  position,
  transaction,
  time: DateTime.fromDateUnsafe(time),
  by: who
})

interface List {
  readonly filter: Filter
  readonly order: Sort
  readonly scope: Scope | undefined
}

/** The documents of a list at a place. */
const snapshot = Effect.fnUntraced(function*<M extends Model.Any>(
  context: ChangeContext<M>,
  view: ChangeView,
  { filter, order, scope }: List
): Effect.fn.Return<
  { readonly documents: ReadonlyArray<Document>; readonly position: Position },
  PositionGone | ReadError
> {
  const { documents, upgraded, model: { modelName }, store } = context
  const find = (take: (found: ReadonlyArray<Document>) => boolean) =>
    Effect.map(documents.find({ filter, sort: order }, scope), take)
  const followed = [{ collection: modelName, find, kept: identity<Document>, upgraded, sees: view.sees }]
  // It is never full.
  const { lists, position } = (yield* listsAt(store, followed, () => false))!
  const { isChanged, items } = lists[0]!
  const sorted = isChanged
    ? yield* Stream.runCollect(
      aggregate(Stream.fromIterable(items), [{ $sort: order }], { operation: "live" })
    )
    : items
  return { documents: sorted, position }
})
