/**
 * How large values are: as BSON, whose documents have a limit, and in memory, of which a pipeline has so much.
 */
import { Binary } from "bson"
import * as Result from "effect/Result"
import { escapedProto, isArray, isDocument } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import { charge, currentEvaluation, spend } from "./costBudget.ts"
import { type Problem, refuse, rejected } from "./queryProblem.ts"

// MongoDB's limits of a document, and of a stage that needs all its input at once.
const maxBytes = 16 * 1024 * 1024
const maxDepth = 200
const maxMemory = 100 * 1024 * 1024

/**
 * A document that a stage has made, unless it is larger than any may be.
 *
 * @internal
 */
export const sized = (document: Document): Result.Result<Document, Problem> => {
  isOdd = false
  const bytes = bytesOf(document, 0)
  if (!isOdd && bytes > minPlain) plain.add(document)
  spend(Math.min(bytes, maxBytes))
  return bytes > maxBytes ? Result.fail(rejected(tooLarge)) : Result.succeed(document)
}

/**
 * Whether it is known of a large document, since {@link sized} saw it, that nothing in it is `undefined`, and that no key
 * is `__proto__`, or stands for it.
 *
 * @internal
 */
export const isPlain = (document: Document): boolean => plain.has(document)

/**
 * Adds up the sizes of what becomes one document, as long as it may be one.
 *
 * @internal
 */
export const makeSize = (): (part: Document) => Problem | undefined => {
  let total = 0
  return (part) => {
    const bytes = bytesOf(part, 0)
    spend(Math.min(bytes, maxBytes))
    total += bytes
    return total > maxBytes ? rejected(tooLarge) : undefined
  }
}

/**
 * How many bytes an expression's value takes as BSON, at least; refuses those that are larger than a document may be.
 * What was measured once in an evaluation is not measured again, so that a value may grow at no more cost than it takes.
 *
 * @internal
 */
export const sizeOfValue = (value: unknown): number => {
  if (typeof value !== "object" || value === null) return bytesOf(value, 0)
  if (evaluation !== currentEvaluation()) {
    evaluation = currentEvaluation()
    known = new WeakMap()
  }
  const bytes = bytesOf(value, 0, known)
  return bytes > maxBytes ? refuse(tooLarge) : bytes
}

/**
 * Refuses a text that is longer than a document may be, before it is made.
 *
 * @internal
 */
export const checkLength = (length: number): void => {
  if (length > maxBytes) refuse(tooLarge)
}

/**
 * The memory of a pipeline, all its stages together.
 *
 * @internal
 */
export interface Memory {
  /** Sets so many bytes aside. */
  readonly hold: (bytes: number) => Problem | undefined
  /** Gives them back. */
  readonly release: (bytes: number) => void
}

/** @internal */
export const makeMemory = (problem = rejected("the pipeline needs more than 100 MiB of memory")): Memory => {
  let held = 0
  return {
    hold: (bytes) => {
      held += bytes
      return held > maxMemory ? problem : undefined
    },
    release: (bytes) => {
      held -= bytes
    }
  }
}

/**
 * How many bytes of memory a value takes, about.
 *
 * @internal
 */
export const memoryOf = (value: unknown): number => {
  const bytes = heapOf(value, 0)
  spend(Math.min(bytes, maxMemory) / 8)
  return bytes
}

// internal

const tooLarge = "a document or a value of it has more than 16 MiB, or more than 200 levels"

// To look for it costs nothing beside the way through the document, but another way through it would.
let isOdd = false

// To look for it again in any that is smaller costs less than to remember.
const minPlain = 65_536
const plain = new WeakSet<Document>()

let evaluation = 0
let known = new WeakMap<object, number>()

// Counts no further than to the limit: what is in a value several times counts several times, and may never end.
const bytesOf = (value: unknown, depth: number, known?: WeakMap<object, number>): number => {
  switch (typeof value) {
    case "string":
      return 5 + value.length
    case "number":
      return 4
    case "object":
      return value === null ? 0 : bytesOfObject(value, depth, known)
    case "undefined":
      isOdd = true
      return 1
    default:
      return 1
  }
}

const bytesOfObject = (value: object, depth: number, known?: WeakMap<object, number>): number => {
  const before = known?.get(value)
  if (before !== undefined) return before
  if (depth > maxDepth) return Infinity
  let bytes = 5
  if (isArray(value)) {
    if (known !== undefined) charge(8 + value.length)
    // A type, a number in digits and an end.
    const perItem = value.length < 20 ? 3 : 2 + Math.floor(Math.log10(value.length / 2) + 1)
    for (let i = 0; i < value.length && bytes <= maxBytes; i++) bytes += perItem + bytesOf(value[i], depth + 1, known)
  } else if (isDocument(value)) {
    // By far the quickest way through the fields of what is frozen.
    for (const key in value) {
      if (key === "__proto__" || key === escapedProto) isOdd = true
      bytes += 2 + key.length + bytesOf(value[key], depth + 1, known)
      if (known !== undefined) charge(4)
      if (bytes > maxBytes) break
    }
  } else return value instanceof Binary ? value.position : 8
  known?.set(value, bytes)
  return bytes
}

const heapOf = (value: unknown, depth: number): number => {
  if (typeof value === "string") return 24 + value.length
  if (typeof value === "number") return Number.isInteger(value) ? 0 : 16
  if (typeof value !== "object" || value === null) return 0
  if (depth > maxDepth) return Infinity
  if (isArray(value)) {
    let bytes = 48
    for (let i = 0; i < value.length && bytes <= maxMemory; i++) bytes += 8 + heapOf(value[i], depth + 1)
    return bytes
  }
  if (!isDocument(value)) return value instanceof Binary ? 160 + value.position : 96
  let [bytes, fields] = [56, 0]
  for (const key in value) {
    fields += 1
    // What has many of them is kept in a table.
    bytes += (fields > 64 ? 56 : 12) + heapOf(value[key], depth + 1)
    if (bytes > maxMemory) break
  }
  return bytes
}
