/**
 * Reads documents to create out of a table: CSV (RFC 4180) with a header, or lines of JSON. A table that a list is answered as can be
 * sent back. The body is read as it arrives, and no further than a list of documents may have. Services without tables don't load it.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as Csv from "effect/encoding/Csv"
import { memoize } from "effect/Function"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Stream from "effect/Stream"
import { managedField } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { TableType } from "../description/listTypes.ts"
import { type BadRequest, errorOf, type PayloadTooLarge } from "../HttpError.ts"
import { badRequestOf } from "../messages/message.ts"
import { type BodyError, parseJson, refusedType } from "../request/body.ts"
import { readRaw } from "../request/rawBody.ts"
import { type Column, columnsOf, deletionTime } from "../response/columns.ts"
import { type CellType, cellTypeOf, valueOf } from "./cells.ts"

/** Reads the documents of a body of at most `maxBytes`: as JSON, and at most one more than `maxItems`. */
export const readTable = (
  request: HttpServerRequest.HttpServerRequest,
  { maxBytes, maxItems, model, type }: {
    readonly model: Model.Any
    readonly type: TableType
    readonly maxBytes: number
    readonly maxItems: number
  }
): Effect.Effect<ReadonlyArray<unknown>, BodyError> => {
  const refused = refusedType(NodeHttpServerRequest.toIncomingMessage(request).headers, () => true, [])
  return refused !== undefined ? Effect.fail(refused) : Effect.flatMap(readRaw(request, [], maxBytes), (bytes) => {
    const text = textIn(bytes)
    return type === "text/csv"
      ? Effect.flatMap(
        // The header and one more.
        Stream.runCollect(Stream.take(recordsIn(text, maxBytes), maxItems + 2)),
        ([header = [], ...rows]) => itemsIn(model, header, rows)
      )
      : Stream.runCollect(Stream.take(linesIn(text), maxItems + 1))
  })
}

// internal

type Text = Stream.Stream<string, BadRequest | PayloadTooLarge>

/** The text of UTF-8, without a byte order mark. */
const textIn = (bytes: Stream.Stream<Uint8Array, BadRequest | PayloadTooLarge>): Text =>
  Stream.suspend(() => {
    const decoder = new TextDecoder("utf-8", { fatal: true })
    const decode = (chunk?: Uint8Array) =>
      Effect.try({
        try: () => decoder.decode(chunk, { stream: chunk !== undefined }),
        catch: () => errorOf("BadRequest", "errors.BodyNotUtf8")
      })
    return Stream.concat(Stream.mapEffect(bytes, decode), Stream.fromEffect(Effect.suspend(() => decode())))
  })

const linesIn = (text: Text): Stream.Stream<unknown, BadRequest | PayloadTooLarge> =>
  Stream.splitLines(text).pipe(
    Stream.zipWithIndex,
    Stream.filter(([line]) => line.trim() !== ""),
    Stream.mapEffect(([line, i]) =>
      Effect.mapError(parseJson(Buffer.from(line)), () => errorOf("BadRequest", "errors.BodyNotTable", { line: i + 1 }))
    )
  )

const recordsIn = (text: Text, maxRecordSize: number): Stream.Stream<Csv.Row, BadRequest | PayloadTooLarge> =>
  Stream.mapError(
    Stream.pipeThroughChannel(text, Csv.decodeString({ ignoreEmptyLines: true, maxRecordSize })),
    (error) => Csv.isCsvError(error) ? errorOf("BadRequest", "errors.BodyNotTable", { line: error.line }) : error
  )

const itemsIn = (
  model: Model.Any,
  header: Csv.Row,
  rows: ReadonlyArray<Csv.Row>
): Effect.Effect<ReadonlyArray<unknown>, BadRequest> => {
  const columns = columnsFor(model)
  const problems = header.flatMap((name, i) =>
    !columns.has(name)
      ? [{ field: name, validator: "Column", message: "is no column" }]
      : header.indexOf(name) < i
      ? [{ field: name, validator: "Column", message: "is there twice" }]
      : []
  )
  const uneven = rows.flatMap(({ length }, i) =>
    length === header.length
      ? []
      : [{ field: String(i), validator: "Column", message: `must have ${header.length} cells` }]
  )
  const found = problems.length > 0 ? problems : uneven.slice(0, 1)
  if (found.length > 0) return Effect.fail(badRequestOf(found))
  const root: Branch = { parts: new Map(), empty: "required" }
  header.forEach((name, i) => {
    const column = columns.get(name)
    if (column !== undefined) place(root, column, i)
  })
  return Effect.succeed(rows.map((row) => itemOf(root, row)))
}

/** The columns that a list has, and those of fields that are only written. */
const columnsFor = memoize((model: Model.Any): ReadonlyMap<string, Column> => {
  const id = managedField(model, "id")
  const written = Object.entries(model.create.fields).filter(([name]) => !Object.hasOwn(model.wire.fields, name))
  const columns = [
    ...managedField(model, "deleted") !== undefined ? [deletionTime] : [],
    ...columnsOf(model, model.wire.fields),
    ...columnsOf(model, Object.fromEntries(written))
  ]
  return new Map(columns.map((column) => [
    column.name,
    // A document without an identifier gets one.
    column.name === id ? { ...column, empties: ["absent" as const] } : column
  ]))
})

/** A value of several columns. */
interface Branch {
  readonly parts: Map<string, Branch | Leaf>
  /** What stands for it where all of its cells are empty. */
  readonly empty: Column["empties"][number]
}

/** A value of one column. */
interface Leaf {
  readonly index: number
  readonly type: CellType
}

const place = (root: Branch, column: Column, index: number): void => {
  const { empties, path } = column
  let branch = root
  path.forEach((key, i) => {
    const empty = empties[i] ?? "required"
    if (i === path.length - 1) {
      branch.parts.set(key, { index, type: cellTypeOf(column) })
      return
    }
    const known = branch.parts.get(key)
    const inner: Branch = known !== undefined && "parts" in known ? known : { parts: new Map(), empty }
    branch.parts.set(key, inner)
    branch = inner
  })
}

/** The value of a record's cells; `undefined` for none. */
const itemOf = (node: Branch | Leaf, row: Csv.Row): unknown => {
  if ("parts" in node) {
    if (node.empty !== "required" && isEmpty(node, row)) return node.empty === "null" ? null : undefined
    return Object.fromEntries(
      Array.from(node.parts, ([key, part]) => [key, itemOf(part, row)] as const).filter(([, value]) =>
        value !== undefined
      )
    )
  }
  return valueOf(node.type, row[node.index] ?? "")
}

const isEmpty = (node: Branch | Leaf, row: Csv.Row): boolean =>
  "parts" in node
    ? Array.from(node.parts.values()).every((part) => isEmpty(part, row))
    : (row[node.index] ?? "") === ""
