import { EJSON } from "bson"
import * as Result from "effect/Result"
import { Problem } from "../../Model/ModelError.ts"
import { copied, type Key, problemOf } from "../messages/message.ts"
import type { Arguments } from "../messages/message.ts"
import { isInherited } from "./fieldAccess.ts"

/**
 * What is wrong with a query: everything, under the name of the parameter that has it.
 *
 * @internal
 */
export class Report {
  readonly problems: Array<Problem> = []
  readonly parameter: string

  constructor(parameter: string) {
    this.parameter = parameter
  }

  /** The caller can put it right. */
  refuse(detail: Detail, args?: Arguments, validator = "Parameter"): void {
    if (this.problems.length < maxProblems) this.problems.push(this.#problem(detail, args, validator))
  }

  /** It is not for callers from outside. It comes first, so that it is never left out. */
  forbid(name: string): void {
    this.problems.unshift(this.#problem("Outside", { name }, forbidden))
    this.problems.splice(maxProblems)
  }

  #problem(detail: Detail, args: Arguments | undefined, validator: string): Problem {
    const problem = problemOf(this.parameter, validator, `errors.query.${detail}`, args)
    return copied(problem, new Problem(problem))
  }

  toResult<A>(value: A): Result.Result<A, ReadonlyArray<Problem>> {
    return this.problems.length === 0 ? Result.succeed(value) : Result.fail(this.problems)
  }
}

/**
 * What can be wrong with a query, by the end of its key in a catalogue.
 *
 * @internal
 */
export type Detail = Key extends infer K ? K extends `errors.query.${infer D}` ? D : never : never

/**
 * The validator of what is no business of a caller from outside.
 *
 * @internal
 */
export const forbidden = "Forbidden"

const maxProblems = 100

/** @internal */
export const maxLength = 32_768

const maxDepth = 32

/**
 * The value of a JSON text from outside, in which MongoDB's extended JSON (`{"$date": …}`) stands for BSON's values.
 * `undefined` when the text is too long, is no JSON, is nested too deeply, or has names that objects have by themselves.
 *
 * @internal
 */
export const parse = (text: string, report: Report): unknown => {
  if (text.length > maxLength) {
    report.refuse("TooLong", { limit: maxLength }, "Limit")
    return undefined
  }
  const json = Result.try((): unknown => JSON.parse(text))
  if (Result.isFailure(json)) {
    report.refuse("NotJson", {}, "Json")
    return undefined
  }
  const value = revived(json.success, 0, report)
  return report.problems.length === 0 ? value : undefined
}

/**
 * Whether it is an object with members, and none of BSON's values.
 *
 * @internal
 */
export const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

/**
 * Whether a path leads to something that objects have by themselves.
 *
 * @internal
 */
export const isUnsafePath = (path: string): boolean => path.split(".").some(isInherited)

const extended: ReadonlySet<string> = new Set([
  "$date",
  "$oid",
  "$uuid",
  "$binary",
  "$numberInt",
  "$numberLong",
  "$numberDouble",
  "$numberDecimal",
  "$timestamp",
  "$minKey",
  "$maxKey"
])

const revived = (value: unknown, depth: number, report: Report): unknown => {
  if (typeof value === "string") {
    if (!value.isWellFormed()) report.refuse("NotUnicode", {}, "Json")
    return value
  }
  if (typeof value !== "object" || value === null) return value
  if (depth === maxDepth) {
    report.refuse("TooDeep", { depth: maxDepth }, "Limit")
    return undefined
  }
  if (Array.isArray(value)) return value.map((item) => revived(item, depth + 1, report))
  const entries = Object.entries(value)
  const [first] = entries
  if (entries.length === 1 && first !== undefined && extended.has(first[0])) return bsonOf(value, report)
  for (const [key] of entries) {
    if (isUnsafePath(key)) report.refuse("Name", { name: JSON.stringify(key) }, "Json")
    if (!key.isWellFormed() || key.includes("\0")) report.refuse("AnyName", {}, "Json")
  }
  if (report.problems.length > 0) return undefined
  return Object.fromEntries(entries.map(([key, part]) => [key, revived(part, depth + 1, report)]))
}

const bsonOf = (value: object, report: Report): unknown => {
  const bson = Result.try((): unknown => EJSON.parse(JSON.stringify(value), { relaxed: true }))
  // What can't be read comes back as it was; a date that is none, as an invalid one.
  if (Result.isSuccess(bson) && !isObject(bson.success) && String(bson.success) !== "Invalid Date") return bson.success
  report.refuse("ExtendedJson", { name: Object.keys(value).join() }, "Json")
  return undefined
}
