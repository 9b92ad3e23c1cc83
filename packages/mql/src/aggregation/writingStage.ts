/** Parses `$out` and `$merge`, which end a pipeline and write its documents into a collection. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import type * as Result from "effect/Result"
import { isArray, isDocument } from "../bson/value.ts"
import { type ExpressionContext, fieldPathOf, namesOf } from "../expression/expression.ts"
import { type LetVariables, parseLet } from "../expression/letVariables.ts"
import { catchRejection, type Problem, reject, rejectWith, unsupported } from "../limits/queryProblem.ts"

/** What happens to a document that is there already, as an update by a pipeline; `undefined` if nothing does. */
export interface MergeStage {
  readonly into: string
  /** The fields that identify a document. */
  readonly on: ReadonlyArray<string>
  readonly stages: ReadonlyArray<Document> | undefined
  readonly isMatchFailure: boolean
  readonly whenNotMatched: "insert" | "discard" | "fail"
  readonly variables: LetVariables
}

export type WritingStage = { readonly out: string } | { readonly merge: MergeStage }

/** The last stage of a pipeline if it writes; else `undefined`. */
export const writingStageOf = (pipeline: ReadonlyArray<Document>): Document | undefined => {
  const last = pipeline.at(-1)
  return isDocument(last) && (Object.hasOwn(last, "$out") || Object.hasOwn(last, "$merge")) ? last : undefined
}

export const parseWritingStage = (stage: Document, context: ExpressionContext): Result.Result<WritingStage, Problem> =>
  catchRejection((): WritingStage =>
    Object.keys(stage).length > 1
      ? reject("a stage must have exactly one field")
      : Object.hasOwn(stage, "$out")
      ? { out: parseTarget("$out", stage["$out"]) }
      : { merge: parseMerge(stage["$merge"], context) }
  )

// internal

const parseTarget = (stage: string, target: unknown): string =>
  isDocument(target) && Object.hasOwn(target, "db")
    ? rejectWith(unsupported(`${stage} into a named database`))
    : typeof target !== "string" || target === "" || /[$\0]/.test(target) || target.startsWith("system.")
    ? reject(`${stage} needs the name of a collection`)
    : target

const updates: ReadonlyMap<unknown, ReadonlyArray<Document> | undefined> = new Map<
  unknown,
  ReadonlyArray<Document> | undefined
>([
  ["replace", [{ $replaceWith: "$$new" }]],
  ["merge", [{ $replaceWith: { $mergeObjects: ["$$ROOT", "$$new"] } }]],
  ["keepExisting", undefined],
  ["fail", undefined]
])

const parseMerge = (operand: unknown, context: ExpressionContext): MergeStage => {
  const specification = isDocument(operand) ? operand : { into: operand }
  const { into, let: variables, on = "_id", whenMatched = "merge", whenNotMatched = "insert" } = {
    ...namesOf(specification, "$merge", ["into"], ["let", "on", "whenMatched", "whenNotMatched"])
  }
  const fields = (isArray(on) ? on : [on]).map((path) => fieldPathOf("the on of $merge", path).join("."))
  if (fields.length === 0 || new Set(fields).size < fields.length) {
    return reject("the on of $merge is a field, or an array of different ones")
  }
  if (whenNotMatched !== "insert" && whenNotMatched !== "discard" && whenNotMatched !== "fail") {
    return reject("whenNotMatched of $merge is insert, discard or fail")
  }
  const isPipeline = isArray(whenMatched) && whenMatched.every(isDocument)
  if (!isPipeline && !updates.has(whenMatched)) {
    return reject("whenMatched of $merge is replace, keepExisting, merge, fail or a pipeline")
  }
  if (variables !== undefined && !isPipeline) {
    return reject("the let of $merge needs a pipeline as whenMatched")
  }
  return {
    into: parseTarget("$merge", into),
    on: fields,
    stages: isPipeline ? whenMatched : updates.get(whenMatched),
    isMatchFailure: whenMatched === "fail",
    whenNotMatched,
    variables: parseLet(variables ?? {}, "$merge", { ...context, variables: undefined })
  }
}
