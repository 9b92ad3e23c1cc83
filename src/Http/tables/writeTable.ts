/**
 * Lists as tables: all documents of a filter, as CSV (RFC 4180) or as lines of JSON. They are read from one state of the
 * collection while the client takes them, so that only a few are in memory at once. Services without tables don't load it.
 */
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Csv from "effect/encoding/Csv"
import type * as Fiber from "effect/Fiber"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Predicate from "effect/Predicate"
import type * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { FieldProblem } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document } from "../../Repository/DocumentStore.ts"
import { AccessDecision, type DocumentReads } from "../../Repository/internal.ts"
import { QueryTimeout } from "../../Repository/RepositoryError.ts"
import type { TableType } from "../description/listTypes.ts"
import { filterNamesOf, pagingParameters } from "../description/queryParameters.ts"
import type { Limits } from "../KernelConfig.ts"
import { rejectionIn } from "../query/nativeQueries.ts"
import type { Parameters, UrlQuery } from "../query/urlQuery.ts"
import type { TableOptions } from "../registration/registration.ts"
import { begun } from "../response/begun.ts"
import { type Column, columnsOf } from "../response/columns.ts"
import type { HandlerFailure, ResponseEffect } from "../response/handlerFailures.ts"
import type { ListResponses } from "../response/listResponse.ts"
import type { Representations } from "../response/representation.ts"
import { cellOf, cellTypeOf, withoutFormula } from "./cells.ts"

interface TableContext {
  /** The model as callers with the same fields see it. */
  readonly model: Model.Any
  readonly options: TableOptions
  /** Columns of what documents have beside their fields. */
  readonly more: ReadonlyArray<Column>
  readonly documents: Pick<DocumentReads, "stream">
  readonly representations: Representations
  readonly lists: ListResponses
  readonly limits: Limits
  readonly readQuery: (
    parameters: Parameters,
    fiber: Fiber.Fiber<unknown, unknown>
  ) => Result.Result<UrlQuery, ReadonlyArray<FieldProblem>>
  readonly reject: (problems: ReadonlyArray<FieldProblem>) => ResponseEffect
  /** What runs before the read, which it may refuse. */
  readonly before: (response: ResponseEffect) => ResponseEffect
  /** What runs after documents are read, which it may refuse; `undefined` for nothing. */
  readonly after: ((documents: ReadonlyArray<Document>) => Effect.Effect<void, HandlerFailure>) | undefined
  /** Logs documents that do not fit the model. */
  readonly logUnreadable: (documents: ReadonlyArray<Document>) => Effect.Effect<void>
}

/** Answers with a table of the type. Its documents are written as those of a page are, with the same fields. */
export const tableOf = (context: TableContext) => {
  const { before, documents, limits, lists, model, more, options, readQuery, reject, representations } = context
  const fieldNames = new Set(filterNamesOf(model))
  const isPaging = (name: string) =>
    (pagingParameters.has(name) && !sorting.has(name) || name === "cursor") &&
    !(overridable.has(name) && fieldNames.has(name))
  const columns = columnsOf(model, model.wire.fields)
  return (type: TableType, parameters: Parameters, fiber: Fiber.Fiber<unknown, unknown>): ResponseEffect => {
    const paging = Object.keys(parameters).filter(isPaging)
    if (paging.length > 0) {
      return reject(
        paging.map((field) => ({ field, validator: "Parameter", message: "is not a parameter of a table" }))
      )
    }
    const read = readQuery(parameters, fiber)
    if (Result.isFailure(read)) return reject(read.failure)
    const { fields, find: { filter, projection, sort } } = read.success
    const representation = representations(fiber)
    const isWhole = context.after !== undefined || representation.linksDependOnDocument
    const found = Stream.mapError(
      documents.stream({ filter, sort, projection: isWhole ? undefined : projection, snapshot: true }),
      rejectionIn("query", parameters)
    )
    const scope = Context.getUnsafe(fiber.context, Scope.Scope)
    return before(Effect.gen(function*() {
      const pull = yield* Scope.provide(Stream.toPull(found), scope)
      const timed = Effect.timeoutOrElse(pull, {
        duration: limits.queryTimeout,
        orElse: () => Effect.fail(new QueryTimeout({ operation: "stream" }))
      })
      // Whoever writes the body is not the caller any more.
      const texts = Effect.provideContext(writing(context, representation, fields, timed), fiber.context)
      // A query that fails is answered by its status, as that of a page.
      const rows = Stream.fromPull(Effect.succeed(yield* begun(texts)))
      const { trail } = Context.get(fiber.context, AccessDecision) ?? {}
      if (trail !== undefined) yield* Scope.addFinalizer(scope, trail.flush)
      const parts = type === "text/csv"
        ? csv(rows, [...selected(columns, fields, parameters["fields"]), ...more], options)
        : lines(rows)
      return HttpServerResponse.stream(lists.pulled(parts), { contentType: contentTypes[type] })
    }))
  }
}

// internal

const sorting = new Set(["sort_by", "sort_order"])

/** The parameters that are filters where a field has their name. */
const overridable = new Set(["cursor", "count", "expand"])

const contentTypes: { readonly [T in TableType]: string } = {
  "text/csv": "text/csv; charset=utf-8; header=present",
  "application/x-ndjson": "application/x-ndjson"
}

type Texts<E> = Pull.Pull<Arr.NonEmptyReadonlyArray<string>, E>

/** The documents as JSON. It fails at one that does not fit the model, unless these are skipped. */
const writing = <E extends HandlerFailure>(
  { after, limits, logUnreadable }: TableContext,
  representation: ReturnType<Representations>,
  fields: UrlQuery["fields"],
  pull: Pull.Pull<ReadonlyArray<Document>, E>
): Texts<HandlerFailure> => {
  const serialise = fields === undefined ? representation.textOf : representation.textBy(fields)
  const next: Texts<HandlerFailure> = Effect.flatMap(pull, (documents) => {
    const texts: Array<string> = []
    const readable: Array<Document> = []
    const unreadable: Array<Document> = []
    for (const document of documents) {
      const text = serialise(document)
      if (text === undefined) unreadable.push(document)
      else {
        texts.push(text)
        if (after !== undefined) readable.push(document)
      }
    }
    const [first] = unreadable
    const written: Texts<HandlerFailure> = Effect.suspend(() =>
      Arr.isReadonlyArrayNonEmpty(texts) ? Effect.succeed(texts) : next
    )
    const seen = after === undefined ? written : Effect.andThen(after(readable), written)
    if (first === undefined) return seen
    return Effect.andThen(
      logUnreadable(unreadable),
      limits.skipUnreadable ? seen : Effect.andThen(representation.corrupt(first), Effect.die(unwritten))
    )
  })
  return next
}

const unwritten = new Error("A document that can't be written was read")

const lines = <E>(rows: Stream.Stream<string, E>): Stream.Stream<Uint8Array, E> =>
  Stream.mapArray(rows, (texts) => Arr.of(Buffer.from(`${texts.join("\n")}\n`)))

/** A cell is read out of the JSON of its document, so that a table shows what the page does. */
const csv = <E>(
  rows: Stream.Stream<string, E>,
  columns: ReadonlyArray<Column>,
  { byteOrderMark = false, escapeFormulas = false }: TableContext["options"]
): Stream.Stream<Uint8Array, E> => {
  const escaped = escapeFormulas ? withoutFormula : (text: string) => text
  let mark = byteOrderMark ? "\uFEFF" : ""
  const places = columns.map((column) => ({ path: column.path, type: cellTypeOf(column) }))
  const cells = Stream.map(rows, (text): Csv.Row => {
    const document: unknown = JSON.parse(text)
    return places.map(({ path, type }) => cellOf(type, path.reduce(memberOf, document), escaped))
  })
  return Stream.concat(Stream.succeed<Csv.Row>(columns.map(({ name }) => name)), cells).pipe(
    Stream.pipeThroughChannel(Csv.encodeString()),
    Stream.mapArray((records) => {
      const part = Buffer.from(mark + records.join(""))
      mark = ""
      return Arr.of(part)
    })
  )
}

const memberOf = (value: unknown, key: string): unknown =>
  Predicate.isObject(value) && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined

/** The columns of the selected fields, or of what these are part of, in the order in which they were asked for after the identifier. */
const selected = (
  columns: ReadonlyArray<Column>,
  fields: ReadonlyArray<string> | undefined,
  asked: unknown
): ReadonlyArray<Column> => {
  if (fields === undefined) return columns
  const names = String(asked).split(",").map((name) => name.trim())
  const placeOf = (column: Column): number => names.findIndex(isOf(column))
  return columns.filter((column) => fields.some(isOf(column))).toSorted((a, b) => placeOf(a) - placeOf(b))
}

const isOf = ({ name }: Column) => (field: string): boolean =>
  field === name || name.startsWith(`${field}.`) || field.startsWith(`${name}.`)
