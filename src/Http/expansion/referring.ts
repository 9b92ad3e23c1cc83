/** Finds the documents that refer to others: the first page of each, and their number. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { quote } from "../../internal/json.ts"
import type { Document, Filter } from "../../Repository/DocumentStore.ts"
import { AccessDecision, allOf, identifierOf, uniqueTextOfId } from "../../Repository/internal.ts"
import { encoded } from "../description/pathShape.ts"
import type { QueryField } from "../query/queryFields.ts"
import type { Referring } from "../registration/relations.ts"
import type { HandlerFailure } from "../response/handlerFailures.ts"
import * as Links from "../response/links.ts"
import { type WireText, wireTextOf, WireTexts } from "../response/wireText.ts"
import type { Budget } from "./budget.ts"
import type { Embeddable } from "./embeddable.ts"

/** The documents that refer to one. */
export interface Children {
  /** The identifiers of the first ones, in the order of a list. */
  readonly ids: ReadonlyArray<unknown>
  readonly total: number
}

/** The children by the unique texts of the identifiers that they refer to. One query finds them all. */
export const countReferring = (
  { limits, repository }: Embeddable,
  { isList, list, path }: QueryField,
  ids: ReadonlyArray<unknown>,
  condition: Filter | undefined,
  budget: Budget
): Effect.Effect<ReadonlyMap<string, Children>, HandlerFailure> => {
  const first = (input: string) => ({ $firstN: { input, n: limits.defaultPageSize } })
  const names = path.split(".")
  const pipeline: ReadonlyArray<Document> = [
    { $match: referringFilter(path, ids, condition) },
    { $project: { [path]: 1 } },
    ...isList || list !== undefined
      // A document that refers to another one twice counts once.
      ? [
        ...names.map((_, i) => ({ $unwind: `$${names.slice(0, i + 1).join(".")}` })),
        { $match: { [path]: { $in: ids } } },
        { $group: { _id: { of: `$${path}`, id: "$_id" } } },
        { $sort: { "_id.id": 1 } },
        { $group: { _id: "$_id.of", total: { $sum: 1 }, ids: first("$_id.id") } }
      ]
      : [{ $sort: { _id: 1 } }, { $group: { _id: `$${path}`, total: { $sum: 1 }, ids: first("$_id") } }]
  ]
  const found = new Map<string, Children>()
  const counted = Stream.runForEach(
    repository.aggregate(pipeline, { timeLimit: limits.queryTimeout }),
    ({ _id, ids, total }) => {
      // The pipeline makes these.
      const children = { ids: ids as ReadonlyArray<unknown>, total: Number(total) }
      found.set(uniqueTextOfId(_id), children)
      return budget.read(children.ids.length)
    }
  )
  // The audit log has the documents once they are read.
  const unnoted = Effect.updateService(
    counted,
    AccessDecision,
    (decision) => decision && { ...decision, trail: undefined }
  )
  return Effect.as(unnoted, found)
}

/** The filter for the documents that refer to one of these. */
export const referringFilter = (path: string, ids: ReadonlyArray<unknown>, condition: Filter | undefined): Filter =>
  allOf({ [path]: { $in: ids } }, condition) ?? {}

/** The list that a `GET` of the children of one document answers, with their number as `total`. */
export const listText = (
  place: string,
  { field, to }: Referring,
  id: unknown,
  { items, pageSize, parameters, total }: {
    readonly items: ReadonlyArray<WireText>
    readonly pageSize: number
    readonly parameters: { readonly [name: string]: string }
    readonly total: number
  }
): WireText => {
  const links = Links.ofPage(encoded(place), { [field]: filterText(identifierOf(to).print(id)), ...parameters }, {
    page: 1,
    pageSize,
    total
  })
  const list = new WireTexts()
  for (const item of items) list.add(item)
  return list.within(start, wireTextOf(`],"total":${total},${links}}`))
}

// internal

const start = wireTextOf(`{"_type":"list","_items":[`)

/** A value of a filter, in quotes if it would have a special meaning. */
const filterText = (value: string): string => /^[\w.-]+$/u.test(value) && value !== "null" ? value : quote(value)
