/** Parses MongoDB's projections, those of finds and of `$project`. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import * as Result from "effect/Result"
import { normalise } from "../bson/normalise.ts"
import { toDouble } from "../bson/number.ts"
import { isArray, isDocument, isNumber } from "../bson/value.ts"
import { sliceOf } from "../expression/arrayOperators.ts"
import { type ExpressionContext, wholeOf } from "../expression/expression.ts"
import { parseExpression } from "../expression/parseExpression.ts"
import { matchedItem } from "../filter/matchedItem.ts"
import { type Filter, parseItemCondition } from "../filter/parseFilter.ts"
import { beginEvaluation } from "../limits/costBudget.ts"
import { catchRejection, type Problem, reject } from "../limits/queryProblem.ts"
import { checkSize } from "../limits/sizeLimits.ts"
import { changeFields, dropped, FieldTree, type Leaf, selectFields, taken } from "./fieldTree.ts"

/** May throw. */
export type Projection = (document: Document) => Document

/** Whether a projection has computed fields. */
export const computes = (projection: Document | undefined): boolean =>
  projection !== undefined && Object.values(projection).some((value) => !isSwitch(value))

/** Parses a projection; `undefined` if it is empty. A positional one gives the item that `filter` matched. */
export const parseProjection = (
  projection: Document,
  context: ExpressionContext,
  filter?: Filter
): Result.Result<Projection | undefined, Problem> => {
  return catchRejection(() => {
    const normalised = Result.getOrElse(normalise(projection, true), reject)
    return Object.keys(normalised).length === 0
      ? undefined
      : read(normalised, context, (path, value) => findLeaf(path, value, context, filter))
  })
}

/** Parses the operand of `$project`. May throw. */
export const parseProject = (projection: Document, context: ExpressionContext): Projection =>
  read(projection, context, () => undefined)

/** The fields of `$addFields` as a tree. Rejects what is no expression. */
export const parseFields = (fields: Document, context: ExpressionContext): FieldTree => {
  const tree = new FieldTree()
  for (const [path, value] of fieldsOf(fields, "")) tree.add(path, parseExpression(value, context), true)
  return tree
}

/** A projection that computes, whose work and the size of its result are limited. */
export const computing = (project: (document: Document) => Document): Projection =>
  evaluating((document) => checkSize(project(document)))

// internal

/** A projection with a budget of its own: one through lists counts their items, whatever was evaluated before. */
const evaluating = (project: (document: Document) => Document): Projection => (document) => {
  beginEvaluation()
  return project(document)
}

/** Whether a value of a projection includes or excludes its field, and computes nothing. */
const isSwitch = (value: unknown): boolean => typeof value === "boolean" || isNumber(value)

const isOn = (value: unknown): boolean => isNumber(value) ? toDouble(value) !== 0 : value === true

/** A field of a find that is neither switched nor an expression. */
interface Special {
  readonly path: string
  readonly leaf: Leaf
  /** Whether the field comes after those that are taken as they are. */
  readonly isLast: boolean
  /** Whether all other fields are left out. */
  readonly isInclusion: boolean
}

/** May throw. */
const read = (
  projection: Document,
  context: ExpressionContext,
  special: (path: string, value: unknown) => Special | undefined
): Projection => {
  const tree = new FieldTree()
  let including: boolean | undefined
  let isComputed = false
  const decide = (isInclusion: boolean, path: string) => {
    including ??= isInclusion
    if (including !== isInclusion) reject(`"${path}": fields are either all included or all excluded`)
  }
  const entries = fieldsOf(projection, "")
  for (const [path, value] of entries) {
    const found = special(path, value)
    if (path === "_id" && isSwitch(value)) continue
    if (found !== undefined) {
      isComputed = true
      if (found.isInclusion) decide(true, path)
      tree.add(found.path, found.leaf, found.isLast)
    } else if (isSwitch(value)) {
      decide(isOn(value), path)
      tree.add(path, isOn(value) ? taken : dropped, false)
    } else {
      if (isDocument(value) && Object.keys(value).length === 0) reject(`"${path}" can't be projected to {}`)
      isComputed = true
      decide(true, path)
      tree.add(path, parseExpression(value, context), true)
    }
  }
  const id = entries.find(([path, value]) => path === "_id" && isSwitch(value))
  const withId = id === undefined || isOn(id[1])
  const isInclusion = including ?? (id !== undefined && withId && !isComputed)
  if (isInclusion === withId && !tree.fields.has("_id")) tree.add("_id", isInclusion ? taken : dropped, false)
  const project = isInclusion
    ? (document: Document) => selectFields(document, tree)
    : (document: Document) => changeFields(document, tree)
  return (isComputed ? computing : evaluating)(project)
}

/** The paths of a projection with their values, those of nested documents included. */
const fieldsOf = (projection: Document, prefix: string): ReadonlyArray<[path: string, value: unknown]> =>
  Object.entries(projection).flatMap(([key, value]) => {
    const names = isDocument(value) ? Object.keys(value) : []
    return isDocument(value) && names.length > 0 && !names.some((name) => name.startsWith("$"))
      ? fieldsOf(value, `${prefix}${key}.`)
      : [[`${prefix}${key}`, value] satisfies [string, unknown]]
  })

const findLeaf = (
  path: string,
  value: unknown,
  context: ExpressionContext,
  filter: Filter | undefined
): Special | undefined => {
  if (path.endsWith(".$")) return positional(path.slice(0, -2), value, filter)
  if (!isDocument(value)) return undefined
  const { $elemMatch, $slice } = { ...value }
  if (Object.hasOwn(value, "$elemMatch")) {
    if (path.includes(".")) return reject(`"${path}": $elemMatch can't be of a nested field`)
    const test = isDocument($elemMatch)
      ? parseItemCondition($elemMatch, context)
      : reject("$elemMatch needs a filter or operators")
    return {
      path,
      isInclusion: true,
      isLast: true,
      leaf: (_, list) => {
        const at = isArray(list) ? list.findIndex(test) : -1
        return isArray(list) && at >= 0 ? [list[at]] : undefined
      }
    }
  }
  const given = isArray($slice) ? $slice : [$slice]
  return Object.hasOwn(value, "$slice") && given.length <= 2 && given.every(isNumber)
    ? { path, isInclusion: false, isLast: false, leaf: sliced(given) }
    : undefined
}

const sliced = (given: ReadonlyArray<unknown>): Leaf => {
  const [first, count] = given.map((number) => wholeOf("$slice", number))
  if (first === undefined) return reject("$slice needs a number")
  if (count !== undefined && count < 1) return reject("$slice needs a limit from 1")
  return (_, list) => isArray(list) ? sliceOf(list, first, count) : list
}

const positional = (path: string, value: unknown, filter: Filter | undefined): Special => {
  if (!isSwitch(value) || !isOn(value)) return reject(`"${path}.$" can only be included`)
  if (filter === undefined) return reject(`"${path}.$" can't show a document after its update`)
  const place = matchedItem(filter.itemConditions, path)
  if (place === undefined) return reject(`"${path}.$" needs a filter of "${path}"`)
  return {
    path,
    isInclusion: true,
    isLast: false,
    leaf: (root, list) => {
      const at = place(root)
      return isArray(list) && at !== undefined ? [list[at]] : reject(`the filter matches no item of "${path}"`)
    }
  }
}
