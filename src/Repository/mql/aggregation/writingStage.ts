/**
 * Parses `$out` and `$merge`, which end a pipeline and write its documents into a collection.
 */
import * as Result from "effect/Result"
import { isArray, isDocument } from "../../bson/value.ts"
import type { Document } from "../../DocumentStore.ts"
import type { ExpressionContext } from "../expression/expression.ts"
import { type LetVariables, parseLet } from "../expression/letVariables.ts"
import { type Problem, rejected, unsupported } from "../limits/queryProblem.ts"

/**
 * What happens to a document that is there already, as an update by a pipeline; `undefined` if nothing does.
 *
 * @internal
 */
export interface Merge {
  readonly into: string
  /** The fields that identify a document. */
  readonly on: ReadonlyArray<string>
  readonly stages: ReadonlyArray<Document> | undefined
  readonly isMatchFailure: boolean
  readonly whenNotMatched: "insert" | "discard" | "fail"
  readonly variables: LetVariables
}

/** @internal */
export type WritingStage = { readonly out: string } | { readonly merge: Merge }

/**
 * The last stage of a pipeline if it writes; else `undefined`.
 *
 * @internal
 */
export const writingStageOf = (pipeline: ReadonlyArray<Document>): Document | undefined => {
  const last = pipeline.at(-1)
  return isDocument(last) && (Object.hasOwn(last, "$out") || Object.hasOwn(last, "$merge")) ? last : undefined
}

/** @internal */
export const parseWritingStage = (stage: Document, context: ExpressionContext): Result.Result<WritingStage, Problem> =>
  Object.keys(stage).length > 1
    ? Result.fail(rejected("a stage must have exactly one field"))
    : Object.hasOwn(stage, "$out")
    ? Result.map(parseTarget("$out", stage["$out"]), (out) => ({ out }))
    : Result.map(parseMerge(stage["$merge"], context), (merge) => ({ merge }))

// internal

const parseTarget = (stage: string, target: unknown): Result.Result<string, Problem> =>
  isDocument(target) && Object.hasOwn(target, "db")
    ? Result.fail(unsupported(`${stage} into a named database`))
    : typeof target !== "string" || target === "" || /[$\0]/.test(target) || target.startsWith("system.")
    ? Result.fail(rejected(`${stage} needs the name of a collection`))
    : Result.succeed(target)

const updates: ReadonlyMap<unknown, ReadonlyArray<Document> | undefined> = new Map<
  unknown,
  ReadonlyArray<Document> | undefined
>([
  ["replace", [{ $replaceWith: "$$new" }]],
  ["merge", [{ $replaceWith: { $mergeObjects: ["$$ROOT", "$$new"] } }]],
  ["keepExisting", undefined],
  ["fail", undefined]
])

const parseMerge = (operand: unknown, context: ExpressionContext): Result.Result<Merge, Problem> => {
  const specification: Document = isDocument(operand) ? operand : { into: operand }
  const { into, let: variables, on = "_id", whenMatched = "merge", whenNotMatched = "insert", ...others } = {
    ...specification
  }
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return Result.fail(rejected(`$merge has no argument "${unknown}"`))
  const fields = isArray(on) ? on : [on]
  if (fields.length === 0 || !fields.every(isName) || new Set(fields).size < fields.length) {
    return Result.fail(rejected("the on of $merge is a field, or an array of different ones"))
  }
  if (whenNotMatched !== "insert" && whenNotMatched !== "discard" && whenNotMatched !== "fail") {
    return Result.fail(rejected("whenNotMatched of $merge is insert, discard or fail"))
  }
  const isPipeline = isArray(whenMatched) && whenMatched.every(isDocument)
  if (!isPipeline && !updates.has(whenMatched)) {
    return Result.fail(rejected("whenMatched of $merge is replace, keepExisting, merge, fail or a pipeline"))
  }
  if (variables !== undefined && !isPipeline) {
    return Result.fail(rejected("the let of $merge needs a pipeline as whenMatched"))
  }
  return Result.map(
    Result.all([
      parseTarget("$merge", into),
      parseLet(variables ?? {}, "$merge", { ...context, variables: undefined })
    ]),
    ([into, variables]): Merge => ({
      into,
      on: fields,
      stages: isPipeline ? whenMatched : updates.get(whenMatched),
      isMatchFailure: whenMatched === "fail",
      whenNotMatched,
      variables
    })
  )
}

const isName = (value: unknown): value is string => typeof value === "string" && value !== ""
