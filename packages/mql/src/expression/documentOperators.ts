/** The expression operators on documents, and the ones without arguments. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { calculateObjectSize } from "bson"
import { randomInt } from "node:crypto"
import { toDouble } from "../bson/number.ts"
import { isArray, isDocument, isNumber, ownField, setField } from "../bson/value.ts"
import { charge } from "../limits/costBudget.ts"
import { reject } from "../limits/queryProblem.ts"
import { memoryOf, sizeOfValue } from "../limits/sizeLimits.ts"
import {
  type Expression,
  isConstant,
  isNothing,
  missing,
  namesOf,
  ofValue,
  type OperatorParser,
  type OperatorParsers,
  type Parser,
  textOperand,
  unary,
  variadic
} from "./expression.ts"

/** Documents that are merged one after the other, whose memory is weighed. */
export class Merged {
  readonly #fields = new Map<string, unknown>()
  readonly #weigh: (bytes: number) => void

  constructor(weigh: (bytes: number) => void) {
    this.#weigh = weigh
  }

  get size(): number {
    return this.#fields.size
  }

  /** May throw. */
  add(value: unknown): void {
    if (isNothing(value)) return
    if (!isDocument(value)) return reject("$mergeObjects needs documents")
    for (const [key, field] of Object.entries(value)) {
      if (field === undefined) continue
      const before = this.#fields.has(key) ? memoryOf(this.#fields.get(key)) : -fieldSize - key.length
      this.#weigh(memoryOf(field) - before)
      this.#fields.set(key, field)
    }
  }

  document(): Document {
    return Object.fromEntries(this.#fields)
  }
}

// The bytes of a field, without its name and its value.
const fieldSize = 64

// `$mergeObjects: "$list"` merges the items of a list.
const $mergeObjects: OperatorParser = (operand, parser, name) => {
  const merge = (values: ReadonlyArray<unknown>) => {
    const merged: { [key: string]: unknown } = {}
    for (const value of values) {
      if (isNothing(value)) continue
      if (!isDocument(value)) return reject(`${name} needs documents`)
      const fields = Object.entries(value)
      charge(4 * fields.length)
      for (const [key, field] of fields) setField(merged, key, field)
    }
    return merged
  }
  if (isArray(operand)) return variadic(0, Infinity, merge)(operand, parser, name)
  return unary((value) => merge(isArray(value) ? value : [value]))(operand, parser, name)
}

const $objectToArray = ofValue((value, name) => {
  if (!isDocument(value)) return reject(`${name} needs a document`)
  const fields = Object.entries(value)
  charge(8 * fields.length)
  return fields.map(([k, v]) => ({ k, v }))
})

const $arrayToObject = ofValue((value) => {
  if (!isArray(value)) return reject("$arrayToObject needs an array")
  charge(16 * value.length)
  const isPairs = isArray(value[0])
  const result: { [key: string]: unknown } = {}
  for (const item of value) {
    const [key, field] = isPairs
      ? isArray(item) && item.length === 2 ? item : []
      : isDocument(item) && Object.keys(item).length === 2 && Object.hasOwn(item, "v")
      ? [ownField(item, "k"), ownField(item, "v")]
      : []
    if (typeof key !== "string") return reject("$arrayToObject needs pairs of keys and values, all of one kind")
    setField(result, key, field)
  }
  return result
})

const fieldNameOf = (name: string, expression: unknown, { parse }: Parser): Expression => {
  const field = parse(expression)
  return isConstant(field) && typeof field(undefined) !== "string" ? reject(`${name} needs the name of a field`) : field
}

const $getField: OperatorParser = (operand, parser, name) => {
  const isNamed = isDocument(operand) && Object.hasOwn(operand, "field")
  const given: Document = isNamed ? namesOf(operand, name, ["field"], ["input"]) : { field: operand }
  const { field, input = "$$CURRENT" } = { ...given }
  const key = fieldNameOf(name, field, parser)
  const source = parser.parse(input)
  return (document) => {
    const value = source(document)
    const wanted = textOperand(name, key(document))
    return isDocument(value) ? ownField(value, wanted) : value === null ? null : undefined
  }
}

const settingField = (
  operand: unknown,
  parser: Parser,
  name: string,
  value: Expression
): Expression => {
  const { field, input } = isDocument(operand) ? { ...operand } : {}
  const [key, source] = [fieldNameOf(name, field, parser), parser.parse(input)]
  return (document) => {
    const given = source(document)
    if (isNothing(given)) return null
    if (!isDocument(given)) return reject(`${name} needs a document as its input`)
    const fields = Object.keys(given)
    charge(4 * fields.length)
    const [wanted, set] = [textOperand(name, key(document)), value(document)]
    const result: { [key: string]: unknown } = {}
    for (const other of fields) if (other !== wanted || set !== undefined) setField(result, other, given[other])
    if (set !== undefined) setField(result, wanted, set)
    return result
  }
}

const $setField: OperatorParser = (operand, parser, name) => {
  const { value } = { ...namesOf(operand, name, ["field", "input", "value"]) }
  return settingField(operand, parser, name, parser.parse(value))
}

const $unsetField: OperatorParser = (operand, parser, name) =>
  settingField(namesOf(operand, name, ["field", "input"]), parser, name, missing)

const $bsonSize = ofValue((value, name) => {
  if (!isDocument(value)) return reject(`${name} needs a document`)
  charge(sizeOfValue(value))
  return calculateObjectSize(value)
})

const random = (): number => randomInt(maxRandom) / maxRandom

const maxRandom = 2 ** 47

const $rand: OperatorParser = (operand) =>
  isDocument(operand) && Object.keys(operand).length === 0 ? random : reject("$rand takes no arguments")

const $sampleRate: OperatorParser = (operand) => {
  const rate = isNumber(operand) ? toDouble(operand) : NaN
  return rate >= 0 && rate <= 1 ? () => random() < rate : reject("$sampleRate needs a number from 0 to 1")
}

/** The operators whose value is different each time. */
export const randomOperators: ReadonlySet<string> = new Set(["$rand", "$sampleRate", "$createObjectId"])

export const documentOperators: OperatorParsers = {
  $mergeObjects,
  $objectToArray,
  $arrayToObject,
  $getField,
  $setField,
  $unsetField,
  $bsonSize,
  $rand,
  $sampleRate
}
