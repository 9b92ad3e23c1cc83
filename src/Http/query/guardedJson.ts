/** Parses the JSON of native queries with limits of length and depth, and collects the problems that guards find. */
import { EJSON, Long } from "bson"
import * as Result from "effect/Result"
import { isPlainObject, ownValue } from "../../internal/objects.ts"
import type { Text } from "../../internal/text.ts"
import type { Key } from "../../internal/texts.ts"
import type { FieldProblem } from "../../Model/internal.ts"
import { fieldProblem } from "../messages/message.ts"
import { isInherited } from "./queryFields.ts"

/** Collects the problems of a query under the name of its parameter. */
export class ProblemCollector {
  readonly problems: Array<FieldProblem> = []
  readonly parameter: string

  constructor(parameter: string) {
    this.parameter = parameter
  }

  /** Reports a problem that the caller can correct. */
  reject(detail: Detail, args?: Text["args"], validator = "Parameter"): void {
    if (this.problems.length < maxProblems) this.problems.push(this.#problem(detail, args, validator))
  }

  /** Reports an operator that callers must not use. It comes first, so that it is never cut off. */
  forbid(name: string): void {
    this.problems.unshift(this.#problem("Outside", { name }, forbidden))
    this.problems.splice(maxProblems)
  }

  #problem(detail: Detail, args: Text["args"], validator: string): FieldProblem {
    return fieldProblem(this.parameter, validator, `errors.query.${detail}`, args)
  }

  toResult<A>(value: A): Result.Result<A, ReadonlyArray<FieldProblem>> {
    return this.problems.length === 0 ? Result.succeed(value) : Result.fail(this.problems)
  }
}

/** The problems of a query, by the end of their message keys. */
export type Detail = Key extends infer K ? K extends `errors.query.${infer D}` ? D : never : never

/** The validator name of forbidden operators. */
export const forbidden = "Forbidden"

const maxProblems = 100

export const maxLength = 32_768

const maxDepth = 32

/**
 * Parses JSON text from a caller, with MongoDB's extended JSON (`{"$date": …}`) for BSON values. `undefined` if the
 * text is too long, invalid or nested too deeply, or has names of inherited properties.
 */
export const parseGuardedJson = (text: string, report: ProblemCollector): unknown => {
  if (text.length > maxLength) {
    report.reject("TooLong", { limit: maxLength }, "Limit")
    return undefined
  }
  const json = Result.try((): unknown => manyDigits.test(text) ? JSON.parse(text, exactly) : JSON.parse(text))
  if (Result.isFailure(json)) {
    report.reject("NotJson", {}, "Json")
    return undefined
  }
  const value = revived(json.success, 0, report)
  return report.problems.length === 0 ? value : undefined
}

/** An integer that a number would round. */
const manyDigits = /\d{16}/u

/**
 * Reads an integer that a number would round as a BSON integer, if it is in the range of one. The text by which JSON writes a
 * number is that number.
 */
const exactly = (...[, value, context]: ReadonlyArray<unknown>): unknown => {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value
  // The third argument, which tells the text of a value, is newer than the type of `JSON.parse`.
  const text = String(ownValue(context, "source"))
  return text === String(value) ? value : longOf(text) ?? value
}

const longOf = (digits: string): Long | undefined => {
  if (!/^-?\d{1,19}$/u.test(digits)) return undefined
  const integer = BigInt(digits)
  return BigInt.asIntN(64, integer) === integer ? Long.fromBigInt(integer) : undefined
}

/** Whether a path has the name of an inherited property. */
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

const revived = (value: unknown, depth: number, report: ProblemCollector): unknown => {
  if (typeof value === "string") {
    if (!value.isWellFormed()) report.reject("NotUnicode", {}, "Json")
    return value
  }
  if (typeof value !== "object" || value === null || Long.isLong(value)) return value
  if (depth === maxDepth) {
    report.reject("TooDeep", { depth: maxDepth }, "Limit")
    return undefined
  }
  if (Array.isArray(value)) return value.map((item) => revived(item, depth + 1, report))
  const entries = Object.entries(value)
  const [first] = entries
  if (entries.length === 1 && first !== undefined && extended.has(first[0])) return bsonOf(value, report)
  for (const [key] of entries) {
    if (isUnsafePath(key)) report.reject("Name", { name: JSON.stringify(key) }, "Json")
    if (!key.isWellFormed() || key.includes("\0")) report.reject("AnyName", {}, "Json")
  }
  if (report.problems.length > 0) return undefined
  return Object.fromEntries(entries.map(([key, part]) => [key, revived(part, depth + 1, report)]))
}

const bsonOf = (value: object, report: ProblemCollector): unknown => {
  const long: unknown = Reflect.get(value, "$numberLong")
  const exact = typeof long === "string" ? longOf(long) : undefined
  // Within the integers of a number it is one, which every operator takes.
  if (exact !== undefined) return Number.isSafeInteger(exact.toNumber()) ? exact.toNumber() : exact
  const bson = Result.try((): unknown => EJSON.parse(JSON.stringify(value), { relaxed: true }))
  // An invalid extended value is left unchanged, and an invalid date becomes an invalid `Date`.
  if (Result.isSuccess(bson) && !isPlainObject(bson.success) && String(bson.success) !== "Invalid Date") {
    return bson.success
  }
  report.reject("ExtendedJson", { name: Object.keys(value).join() }, "Json")
  return undefined
}
