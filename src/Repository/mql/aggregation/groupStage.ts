/**
 * `$group` and `$bucketAuto`: each document is added to its group's accumulators and then dropped. The groups count
 * towards the memory budget of the pipeline.
 */
import { type Collator, orderOf } from "../../bson/collator.ts"
import { EqualTexts } from "../../bson/equalTexts.ts"
import { encodeComponent } from "../../bson/keyEncoding.ts"
import { type BsonNumber, compareNumbers, isInt } from "../../bson/number.ts"
import type { Direction } from "../../bson/path.ts"
import { isDocument, setField } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { type BatchIterator, concat, consumeThen, ended, mapEach, releasing } from "../execution/batchIterator.ts"
import { sorted } from "../execution/mergeSort.ts"
import { type ExpressionContext, namesOf, wholeOf } from "../expression/expression.ts"
import { isComputed, parseExpression } from "../expression/parseExpression.ts"
import { beginEvaluation, charge } from "../limits/costBudget.ts"
import { catchRejection, reject } from "../limits/queryProblem.ts"
import { checkSize, type Memory, memoryOf, sizeOfValue } from "../limits/sizeLimits.ts"
import { type Accumulations, parseAccumulations, type State } from "./accumulators.ts"
import { granular, type Granularity, granularityOf } from "./granularity.ts"
import type { StageParser } from "./stageContext.ts"

/** @internal */
export const parseGroup: StageParser = (operand, context) => {
  const { memory } = context
  if (!isDocument(operand) || !Object.hasOwn(operand, "_id")) return reject("$group needs an _id")
  const { _id, ...fields } = operand
  const key = parseKey(_id, context)
  const accumulations = parseAccumulations("$group", fields, context)
  return (source) => {
    const groups = new Groups(context.collator, (key, more) => new Group(key, accumulations, memory, more))
    return consumeThen(
      source,
      (document) => groups.of(key(document)).add(document),
      () => finished(groups.takeAll(), memory)
    )
  }
}

/** @internal */
export const parseBucketAuto: StageParser = (operand, context) => {
  const { collator, memory } = context
  const { equals } = orderOf(collator)
  const specification = namesOf(operand, "$bucketAuto", ["groupBy", "buckets"], ["granularity", "output"])
  const { buckets: given, granularity, groupBy, output = { count: { $sum: 1 } } } = { ...specification }
  const buckets = wholeOf("the buckets of $bucketAuto", given)
  const rounding = granularityOf(granularity)
  if (granularity !== undefined && rounding === undefined) {
    return reject("the granularity of $bucketAuto is the name of a series of preferred numbers")
  }
  if (!isInt(buckets) || buckets < 1 || !isDocument(output)) {
    return reject("$bucketAuto needs a number of buckets from 1, and an output that is a document")
  }
  if (!isComputed(groupBy)) return reject("$bucketAuto needs a path or an expression as its groupBy")
  const key = parseKey(groupBy, context)
  const accumulations = parseAccumulations("$bucketAuto", output, context)
  return (source) => {
    let total = 0
    const keyed = mapEach(source, (document) => {
      total += 1
      const value = key(document)
      return { key: rounding === undefined ? value : granular(value), document }
    })
    let bucket: Bucket | undefined
    let made = 0
    const end = ({ group, min }: Bucket, max: unknown): Document => {
      memory.release(group.used)
      return checkSize(group.document({ min, max }))
    }
    // An array is as good a key as any, and not each of its items.
    const inOrder = sorted(keyed, ({ document, key }) => ({ key: [key], document }), byKey(collator), Infinity, memory)
    const full = mapEach(inOrder, ({ document, key }) => {
      beginEvaluation()
      const isFull = bucket !== undefined && made < buckets && bucket.size >= Math.max(1, Math.round(total / buckets))
      const max = isFull && bucket !== undefined
        ? maxBefore(bucket, key, rounding, equals(bucket.last, key))
        : undefined
      const done = bucket !== undefined && max !== undefined ? end(bucket, max) : undefined
      if (bucket === undefined || max !== undefined) {
        made += 1
        const min = max ?? (rounding === undefined ? key : rounding.below(granular(key)))
        bucket = { group: new Group(key, accumulations, memory, 0), min, last: key, size: 0, boundary: undefined }
      }
      bucket.last = key
      bucket.size += 1
      bucket.group.add(document)
      return done
    })
    return concat(full, () => {
      // The last bucket is complete at the end of the input.
      if (bucket === undefined) return ended
      const last = bucket
      bucket = undefined
      return catchRejection(() => [end(last, lastMax(last, rounding))])
    })
  }
}

// internal

type Key = (document: Document) => unknown

const parseKey = (expression: unknown, context: ExpressionContext): Key => {
  const read = parseExpression(expression, context)
  return (document) => {
    beginEvaluation()
    return read(document) ?? null
  }
}

/** Groups by their keys: equal keys have one group. */
class Groups {
  readonly #groups = new Map<string, Group>()
  // Most keys are texts or numbers, each of which is looked up by itself, without the text that equal keys share.
  readonly #byKey = new Map<unknown, Group>()
  readonly #texts: EqualTexts | undefined
  readonly #make: (key: unknown, more: number) => Group

  constructor(collator: Collator | undefined, make: (key: unknown, more: number) => Group) {
    this.#texts = collator === undefined ? undefined : new EqualTexts(collator)
    this.#make = make
  }

  /** May throw. */
  of(key: unknown): Group {
    charge(sizeOfValue(key))
    if (this.#texts !== undefined || (typeof key !== "string" && typeof key !== "number")) return this.#equalTo(key)
    const known = this.#byKey.get(key)
    if (known !== undefined) return known
    const group = this.#equalTo(key)
    this.#byKey.set(key, group)
    return group
  }

  takeAll(): ReadonlyArray<Group> {
    const all = Array.from(this.#groups.values())
    this.#groups.clear()
    this.#byKey.clear()
    return all
  }

  #equalTo(key: unknown): Group {
    const text = encodeComponent(this.#texts === undefined ? key : this.#texts.add(key), { inexact: false })
    const known = this.#groups.get(text)
    if (known !== undefined) return known
    const group = this.#make(key, 2 * text.length)
    this.#groups.set(text, group)
    return group
  }
}

// What any group takes, in bytes.
const groupSize = 256

class Group {
  readonly key: unknown
  /** How much memory it takes. */
  used = 0
  readonly #accumulations: Accumulations
  readonly #states: ReadonlyArray<State>

  constructor(key: unknown, accumulations: Accumulations, memory: Memory, more: number) {
    this.key = key
    const weigh = (bytes: number) => {
      this.used += bytes
      memory.hold(bytes)
    }
    weigh(groupSize + more + memoryOf(key))
    this.#accumulations = accumulations
    this.#states = accumulations.map(([, { start }]) => start({ key, weigh }))
  }

  /** May throw. */
  add(document: Document): void {
    for (let i = 0; i < this.#states.length; i++) this.#states[i]!.add(this.#accumulations[i]![1].read(document))
  }

  /** May throw. */
  document(id: unknown): Document {
    beginEvaluation()
    const result: { [name: string]: unknown } = { _id: id }
    for (const [i, [field]] of this.#accumulations.entries()) setField(result, field, this.#states[i]!.result() ?? null)
    return result
  }
}

const finished = (groups: ReadonlyArray<Group>, memory: Memory): BatchIterator =>
  mapEach(releasing(groups, memory, ({ used }) => used), (group) => checkSize(group.document(group.key)))

interface Bucket {
  readonly group: Group
  readonly min: unknown
  /** The key of the last document in it. */
  last: unknown
  size: number
  /** With a granularity, the member of the series at which a bucket that is full ends. */
  boundary: BsonNumber | undefined
}

/** The upper bound of a bucket that is full, if the next key is not in it any more. */
const maxBefore = (
  bucket: Bucket,
  key: unknown,
  rounding: Granularity | undefined,
  isAlike: boolean
): unknown => {
  if (rounding === undefined) return isAlike ? undefined : key
  bucket.boundary ??= rounding.above(granular(bucket.last))
  if (isAlike || compareNumbers(bucket.boundary, granular(key)) > 0) return undefined
  return compareNumbers(bucket.boundary, 0) === 0 ? rounding.below(granular(key)) : bucket.boundary
}

const lastMax = ({ boundary, last }: Bucket, rounding: Granularity | undefined): unknown =>
  rounding === undefined ? last : boundary ?? rounding.above(granular(last))

const byKey = (collator: Collator | undefined): ReadonlyArray<Direction> => [
  { path: ["key"], descending: false, collator }
]
