/** Sizes and their limits: of a document as BSON (16 MiB, 200 levels), and of the memory of a pipeline (100 MiB). */
import { spend } from "@appkernel/document-store/internal"
import type { Document } from "@appkernel/document-store/StoreTypes"
import { Binary } from "bson"
import { maxDocumentBytes, maxNesting } from "../bson/limits.ts"
import { isArray, isDocument } from "../bson/value.ts"
import { charge, currentEvaluation } from "./costBudget.ts"
import { queryProblem, reject, rejectWith } from "./queryProblem.ts"

// MongoDB's limit for a stage that needs all its input at once.
const maxMemory = 100 * 1024 * 1024

/** A computed document; rejects one that exceeds the limits of a document. */
export const checkSize = (document: Document): Document => {
  makeSize()(document)
  return document
}

/** Adds up the sizes of the parts of one document; rejects more than a document may have. */
export const makeSize = (): (part: Document) => void => {
  let total = 0
  return (part) => {
    const bytes = bytesOf(part, 0)
    spend(Math.min(bytes, maxDocumentBytes))
    total += bytes
    if (total > maxDocumentBytes) reject(tooLarge)
  }
}

/**
 * A lower bound of the size of an expression's value as BSON; rejects values larger than a document may be. Sizes are
 * memoised within an evaluation, so that measuring a growing value takes time linear in its size.
 */
export const sizeOfValue = (value: unknown): number => {
  if (typeof value !== "object" || value === null) return bytesOf(value, 0)
  if (evaluation !== currentEvaluation()) {
    evaluation = currentEvaluation()
    known = new WeakMap()
  }
  const bytes = bytesOf(value, 0, known)
  return bytes > maxDocumentBytes ? reject(tooLarge) : bytes
}

/** Rejects a text that would be longer than a document may be, before it is made. */
export const checkLength = (length: number): void => {
  if (length > maxDocumentBytes) reject(tooLarge)
}

/** The memory budget that all stages of a pipeline share. */
export interface Memory {
  /** Reserves bytes; rejects what is beyond the budget. */
  readonly hold: (bytes: number) => void
  /** Returns bytes to the budget. */
  readonly release: (bytes: number) => void
  /** Makes a part of the budget, for stages that run again and again, each time to their end or not. */
  readonly part: () => MemoryPart
}

interface MemoryPart extends Memory {
  /** Returns to the budget what the part and the parts of it hold. */
  readonly releaseAll: () => void
}

export const makeMemory = (problem = queryProblem("the pipeline needs more than 100 MiB of memory")): Memory => {
  let used = 0
  const hold = (bytes: number) => {
    used += bytes
    if (used > maxMemory) rejectWith(problem)
  }
  const release = (bytes: number) => {
    used -= bytes
  }
  return { hold, release, part: makeParts({ hold, release }).part }
}

/** An estimate of the heap bytes of a value. */
export const memoryOf = (value: unknown): number => {
  const bytes = heapOf(value, 0)
  spend(Math.min(bytes, maxMemory) / 8)
  return bytes
}

// internal

const makeParts = ({ hold, release }: Pick<Memory, "hold" | "release">) => {
  const emptied: Array<() => void> = []
  return {
    part: (): MemoryPart => {
      let used = 0
      const own = {
        hold: (bytes: number) => {
          used += bytes
          hold(bytes)
        },
        release: (bytes: number) => {
          used -= bytes
          release(bytes)
        }
      }
      const parts = makeParts(own)
      const empty = () => {
        used = 0
        parts.empty()
      }
      emptied.push(empty)
      return {
        ...own,
        part: parts.part,
        releaseAll: () => {
          release(used)
          empty()
        }
      }
    },
    empty: () => {
      for (const empty of emptied) empty()
    }
  }
}

const tooLarge = "a document or a value of it has more than 16 MiB, or more than 200 levels"

let evaluation = 0
let known = new WeakMap<object, number>()

// Stops at the limit: a shared part counts each time, so a full count could take exponential time.
const bytesOf = (value: unknown, depth: number, known?: WeakMap<object, number>): number => {
  switch (typeof value) {
    case "string":
      return 5 + value.length
    case "number":
      return 4
    case "object":
      return value === null ? 0 : bytesOfObject(value, depth, known)
    default:
      return 1
  }
}

const bytesOfObject = (value: object, depth: number, known?: WeakMap<object, number>): number => {
  const before = known?.get(value)
  if (before !== undefined) return before
  if (depth > maxNesting) return Infinity
  let bytes = 5
  if (isArray(value)) {
    if (known !== undefined) charge(8 + value.length)
    // A byte for the type, the index in digits, and a terminating byte.
    const perItem = value.length < 20 ? 3 : 2 + Math.floor(Math.log10(value.length / 2) + 1)
    for (let i = 0; i < value.length && bytes <= maxDocumentBytes; i++) {
      bytes += perItem + bytesOf(value[i], depth + 1, known)
    }
  } else if (isDocument(value)) {
    // `for in` is by far the fastest way through the fields of a frozen object.
    for (const key in value) {
      bytes += 2 + key.length + bytesOf(value[key], depth + 1, known)
      if (known !== undefined) charge(4)
      if (bytes > maxDocumentBytes) break
    }
  } else return value instanceof Binary ? value.position : 8
  known?.set(value, bytes)
  return bytes
}

const heapOf = (value: unknown, depth: number): number => {
  if (typeof value === "string") return 24 + value.length
  if (typeof value === "number") return Number.isInteger(value) ? 0 : 16
  if (typeof value !== "object" || value === null) return 0
  if (depth > maxNesting) return Infinity
  if (isArray(value)) {
    let bytes = 48
    for (let i = 0; i < value.length && bytes <= maxMemory; i++) bytes += 8 + heapOf(value[i], depth + 1)
    return bytes
  }
  if (!isDocument(value)) return value instanceof Binary ? 160 + value.position : 96
  let [bytes, fields] = [56, 0]
  for (const key in value) {
    fields += 1
    // V8 stores an object with many fields as a hash table.
    bytes += (fields > 64 ? 56 : 12) + heapOf(value[key], depth + 1)
    if (bytes > maxMemory) break
  }
  return bytes
}
