/** Parses sort specifications. */
import * as Result from "effect/Result"
import type { Collator } from "../bson/collator.ts"
import { directionOf } from "../bson/normalise.ts"
import { type Direction, segmentsOf } from "../bson/path.ts"
import { isDocument } from "../bson/value.ts"
import { isFieldName } from "../expression/expression.ts"
import { type Problem, queryProblem } from "../limits/queryProblem.ts"
import { byScore, isScore } from "./textScore.ts"

/** Parses the sort of an option or a stage. With a text search (`isSearch`), it may sort by the text score. */
export const parseSort = (
  sort: unknown,
  collator: Collator | undefined,
  isSearch = false
): Result.Result<ReadonlyArray<Direction>, Problem> => {
  if (!isDocument(sort)) return Result.fail(queryProblem("a sort must be a document"))
  const entries = Object.entries(sort).map(([path, value]) => [path, directionOf(value)] as const)
  const wrong = entries.find(([path, value]) =>
    !(isDirection(value) || (isSearch && isScore(value))) || !segmentsOf(path).every(isFieldName)
  )
  return wrong === undefined
    ? Result.succeed(
      entries.map(([path, value]) =>
        isScore(value) ? byScore : { path: segmentsOf(path), descending: value === -1, collator }
      )
    )
    : Result.fail(queryProblem(`"${wrong[0]}" must be sorted by 1 or -1`))
}

/** Occurs when the documents to sort exceed the memory limit of a sort. */
export const sortTooLarge: Problem = queryProblem(
  "the sort needs more than 100 MiB of memory",
  "sort by what an index is in order of, ask for fewer documents, or page by cursor instead of by number"
)

const isDirection = (value: unknown): boolean => value === 1 || value === -1
