/**
 * What to sort by.
 */
import * as Result from "effect/Result"
import type { Sort } from "../DocumentStore.ts"
import { isDocument } from "./bsonValue.ts"
import { type Direction, segmentsOf } from "./documentPath.ts"
import { type Problem, rejected } from "./problem.ts"

/**
 * The directions of a sort, as options and stages have it.
 *
 * @internal
 */
export const parseSort = (sort: unknown): Result.Result<ReadonlyArray<Direction>, Problem> => {
  if (!isDocument(sort)) return Result.fail(rejected("a sort must be a document"))
  const entries = Object.entries(sort)
  const wrong = entries.find(([path, value]) => !isDirection(value) || path === "" || path.startsWith("$"))
  return wrong === undefined
    ? Result.succeed(entries.map(([path, value]) => ({ path: segmentsOf(path), descending: value === -1 })))
    : Result.fail(rejected(`"${wrong[0]}" must be sorted by 1 or -1`))
}

const isDirection = (value: unknown): value is Sort[string] => value === 1 || value === -1
