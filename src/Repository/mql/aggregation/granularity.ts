/**
 * The series of preferred numbers whose members `$bucketAuto` takes for the boundaries of its buckets.
 */
import { divide } from "../../bson/arithmetic.ts"
import { type BsonNumber, compareNumbers, doubleOf, isDecimal, toDouble } from "../../bson/number.ts"
import { isNumber } from "../../bson/value.ts"
import { times } from "../expression/arithmeticOperators.ts"
import { reject } from "../limits/queryProblem.ts"

/**
 * The members of a series next to a number that is not negative. 0 is next to itself.
 *
 * @internal
 */
export interface Granularity {
  /** The least member above the number. */
  readonly above: (value: BsonNumber) => BsonNumber
  /** The greatest member below the number. */
  readonly below: (value: BsonNumber) => BsonNumber
}

/**
 * The series of a name; `undefined` if there is none.
 *
 * @internal
 */
export const granularityOf = (name: unknown): Granularity | undefined => {
  if (name === "POWERSOF2") return powersOfTwo
  const members = series.get(name)
  return members === undefined ? undefined : preferred(members)
}

/**
 * A value that can be in a bucket of a series: a number that is not negative. May throw.
 *
 * @internal
 */
export const granular = (value: unknown): BsonNumber =>
  isNumber(value) && toDouble(value) >= 0
    ? value
    : reject("$bucketAuto with a granularity needs numbers that are not negative")

// internal

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

const parsed = (text: string): ReadonlyArray<number> => text.trim().split(/\s+/u).map(Number)

// The Renard series, 1-2-5, and the E series of IEC 60063.
const series: ReadonlyMap<unknown, ReadonlyArray<number>> = new Map([
  ["R5", "10 16 25 40 63"],
  ["R10", "100 125 160 200 250 315 400 500 630 800"],
  ["R20", "100 112 125 140 160 180 200 224 250 280 315 355 400 450 500 560 630 710 800 900"],
  [
    "R40",
    `100 106 112 118 125 132 140 150 160 170 180 190 200 212 224 236 250 265 280 300 315 355 375 400 425 450 475 500 530
    560 600 630 670 710 750 800 850 900 950`
  ],
  [
    "R80",
    `103 109 115 122 128 136 145 155 165 175 185 195 206 218 230 243 258 272 290 307 325 345 365 387 412 437 462 487 515
    545 575 615 650 690 730 775 825 875 925 975`
  ],
  ["1-2-5", "10 20 50"],
  ["E6", "10 15 22 33 47 68"],
  ["E12", "10 12 15 18 22 27 33 39 47 56 68 82"],
  ["E24", "10 11 12 13 15 16 18 20 22 24 27 30 33 36 39 43 47 51 56 62 68 75 82 91"],
  [
    "E48",
    `100 105 110 115 121 127 133 140 147 154 162 169 178 187 196 205 215 226 237 249 261 274 287 301 316 332 348 365 383
    402 422 442 464 487 511 536 562 590 619 649 681 715 750 787 825 866 909 953`
  ],
  [
    "E96",
    `100 102 105 107 110 113 115 118 121 124 127 130 133 137 140 143 147 150 154 158 162 165 169 174 178 182 187 191 196
    200 205 210 215 221 226 232 237 243 249 255 261 267 274 280 287 294 301 309 316 324 332 340 348 357 365 374 383 392 402
    412 422 432 442 453 464 475 487 499 511 523 536 549 562 576 590 604 619 634 649 665 681 698 715 732 750 768 787 806 825
    845 866 887 909 931 953 976`
  ],
  [
    "E192",
    `100 101 102 104 105 106 107 109 110 111 113 114 115 117 118 120 121 123 124 126 127 129 130 132 133 135 137 138 140
    142 143 145 147 149 150 152 154 156 158 160 162 164 165 167 169 172 174 176 178 180 182 184 187 189 191 193 196 198 200
    203 205 208 210 213 215 218 221 223 226 229 232 234 237 240 243 246 249 252 255 258 261 264 267 271 274 277 280 284 287
    291 294 298 301 305 309 312 316 320 324 328 332 336 340 344 348 352 357 361 365 370 374 379 383 388 392 397 402 407 412
    417 422 427 432 437 442 448 453 459 464 470 475 481 487 493 499 505 511 517 523 530 536 542 549 556 562 569 576 583 590
    597 604 612 619 626 634 642 649 657 665 673 681 690 698 706 715 723 732 741 750 759 768 777 787 796 806 816 825 835 845
    856 866 876 887 898 909 920 931 942 953 965 976 988`
  ]
].map(([name, members = ""]) => [name, parsed(members)]))
