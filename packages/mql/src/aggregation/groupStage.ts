/**
 * `$group` and `$bucketAuto`: each document is added to its group's accumulators and then dropped. The groups count
 * towards the memory budget of the pipeline. The boundaries of buckets may be members of a series of preferred numbers.
 */
import type { Document } from "@appkernel/document-store/StoreTypes"
import { divide } from "../bson/arithmetic.ts"
import { type Collator, orderOf } from "../bson/collator.ts"
import { EqualTexts } from "../bson/equalTexts.ts"
import { encodeComponent } from "../bson/keyEncoding.ts"
import { type BsonNumber, compareNumbers, doubleOf, isDecimal, isInt, toDouble } from "../bson/number.ts"
import type { Direction } from "../bson/path.ts"
import { isDocument, isNumber, setField } from "../bson/value.ts"
import { type BatchIterator, concat, consumeThen, ended, mapEach, releasing } from "../execution/batchIterator.ts"
import { sorted } from "../execution/mergeSort.ts"
import { times } from "../expression/arithmeticOperators.ts"
import { type ExpressionContext, namesOf, wholeOf } from "../expression/expression.ts"
import { isComputed, parseExpression } from "../expression/parseExpression.ts"
import { beginEvaluation, charge } from "../limits/costBudget.ts"
import { catchRejection, reject } from "../limits/queryProblem.ts"
import { checkSize, type Memory, memoryOf, sizeOfValue } from "../limits/sizeLimits.ts"
import { type Accumulations, type AccumulatorState, parseAccumulations } from "./accumulators.ts"
import type { StageParser } from "./stageContext.ts"

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
  readonly #states: ReadonlyArray<AccumulatorState>

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

/** The members of a series next to a number that is not negative. 0 is next to itself. */
interface Granularity {
  /** The least member above the number. */
  readonly above: (value: BsonNumber) => BsonNumber
  /** The greatest member below the number. */
  readonly below: (value: BsonNumber) => BsonNumber
}

/** The series of a name; `undefined` if there is none. */
const granularityOf = (name: unknown): Granularity | undefined => {
  if (name === "POWERSOF2") return powersOfTwo
  const members = series.get(name)
  return members === undefined ? undefined : preferred(members)
}

/** A value that can be in a bucket of a series: a number that is not negative. May throw. */
const granular = (value: unknown): BsonNumber =>
  isNumber(value) && toDouble(value) >= 0
    ? value
    : reject("$bucketAuto with a granularity needs numbers that are not negative")

const isZero = (value: BsonNumber): boolean => toDouble(value) === 0

const preferred = (members: ReadonlyArray<number>): Granularity => {
  const least = members[0] ?? 1
  const most = members.at(-1) ?? 1
  return {
    above: (value) => {
      if (isZero(value) || !Number.isFinite(toDouble(value))) return value
      const scale = scaleFor(value)
      while (compareNumbers(value, scale.of(most)) >= 0) scale.up()
      while (compareNumbers(value, scale.of(least)) < 0) {
        const lowest = scale.of(least)
        scale.down()
        if (compareNumbers(value, scale.of(most)) >= 0) return lowest
      }
      return scale.of(members.find((member) => compareNumbers(value, scale.of(member)) < 0) ?? most)
    },
    below: (value) => {
      if (isZero(value) || !Number.isFinite(toDouble(value))) return value
      const scale = scaleFor(value)
      while (compareNumbers(value, scale.of(least)) <= 0) scale.down()
      while (compareNumbers(value, scale.of(most)) > 0) {
        const highest = scale.of(most)
        scale.up()
        if (compareNumbers(value, scale.of(least)) <= 0) return highest
      }
      return scale.of(members.findLast((member) => compareNumbers(value, scale.of(member)) > 0) ?? least)
    }
  }
}

/** The power of ten that the members of a series are multiplied by, as doubles or as decimals, like the value. */
const scaleFor = (value: BsonNumber) => {
  const one = isDecimal(value) ? divide(value, value) : doubleOf(1)
  let factor: BsonNumber = one
  return {
    of: (member: number): BsonNumber => times(factor, member),
    up: () => {
      factor = times(factor, 10)
    },
    down: () => {
      factor = divide(factor, 10)
    }
  }
}

const powersOfTwo: Granularity = {
  above: (value) => isZero(value) ? value : powerLike(value, Math.floor(exponentOf(value)) + 1),
  below: (value) => isZero(value) ? value : powerLike(value, Math.ceil(exponentOf(value)) - 1)
}

/** The logarithm of base 2, exact for a power of 2. */
const exponentOf = (value: BsonNumber): number => Math.log2(toDouble(value))

const powerLike = (value: BsonNumber, exponent: number): BsonNumber =>
  isDecimal(value) ? times(divide(value, value), 2 ** exponent) : 2 ** exponent

const membersIn = (text: string): ReadonlyArray<number> => text.trim().split(/\s+/u).map(Number)

const everySecond = (members: ReadonlyArray<number>): ReadonlyArray<number> => members.filter((_, i) => i % 2 === 0)

const r20 = membersIn("100 112 125 140 160 180 200 224 250 280 315 355 400 450 500 560 630 710 800 900")

const e24 = membersIn("10 11 12 13 15 16 18 20 22 24 27 30 33 36 39 43 47 51 56 62 68 75 82 91")

const e192 = membersIn(
  `100 101 102 104 105 106 107 109 110 111 113 114 115 117 118 120 121 123 124 126 127 129 130 132 133 135 137 138 140
    142 143 145 147 149 150 152 154 156 158 160 162 164 165 167 169 172 174 176 178 180 182 184 187 189 191 193 196 198 200
    203 205 208 210 213 215 218 221 223 226 229 232 234 237 240 243 246 249 252 255 258 261 264 267 271 274 277 280 284 287
    291 294 298 301 305 309 312 316 320 324 328 332 336 340 344 348 352 357 361 365 370 374 379 383 388 392 397 402 407 412
    417 422 427 432 437 442 448 453 459 464 470 475 481 487 493 499 505 511 517 523 530 536 542 549 556 562 569 576 583 590
    597 604 612 619 626 634 642 649 657 665 673 681 690 698 706 715 723 732 741 750 759 768 777 787 796 806 816 825 835 845
    856 866 876 887 898 909 920 931 942 953 965 976 988`
)

// The Renard series, 1-2-5, and the E series of IEC 60063.
const series: ReadonlyMap<unknown, ReadonlyArray<number>> = new Map([
  ["R5", membersIn("10 16 25 40 63")],
  ["R10", everySecond(r20)],
  ["R20", r20],
  [
    "R40",
    membersIn(
      `100 106 112 118 125 132 140 150 160 170 180 190 200 212 224 236 250 265 280 300 315 355 375 400 425 450 475 500
      530 560 600 630 670 710 750 800 850 900 950`
    )
  ],
  [
    "R80",
    membersIn(
      `103 109 115 122 128 136 145 155 165 175 185 195 206 218 230 243 258 272 290 307 325 345 365 387 412 437 462 487
      515 545 575 615 650 690 730 775 825 875 925 975`
    )
  ],
  ["1-2-5", [10, 20, 50]],
  ["E6", everySecond(everySecond(e24))],
  ["E12", everySecond(e24)],
  ["E24", e24],
  ["E48", everySecond(everySecond(e192))],
  ["E96", everySecond(e192)],
  ["E192", e192]
])
