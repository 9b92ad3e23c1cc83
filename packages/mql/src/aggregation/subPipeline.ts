/**
 * Parses the pipelines of `$lookup` and `$unionWith`, which read documents of their own.
 *
 * A pipeline begins with stages that give the same documents for every document of the pipeline around it. They are split
 * off, so that they are run once.
 */
import type { Document } from "@appkernel/document-store/StoreTypes"
import * as Result from "effect/Result"
import { isArray, isDocument } from "../bson/value.ts"
import { type BatchIterator, fromArray } from "../execution/batchIterator.ts"
import { randomOperators } from "../expression/documentOperators.ts"
import { parseExpression } from "../expression/parseExpression.ts"
import { beginEvaluation } from "../limits/costBudget.ts"
import { catchRejection, orReject, reject } from "../limits/queryProblem.ts"
import { splitLeadingFind } from "./leadingFind.ts"
import type { StageContext, Transform } from "./stageContext.ts"

export interface SubPipeline {
  /** Begins to read what is the same each time. */
  readonly open: () => BatchIterator
  /** The stages that follow, which use variables or random numbers. */
  readonly rest: ReadonlyArray<unknown>
}

/**
 * Parses a pipeline over a collection, or over `$documents` without one. `isShared` says which of its first stages may be
 * split off from the rest; the default is all. May throw.
 */
export const parseSubPipeline = (
  name: unknown,
  stages: ReadonlyArray<unknown>,
  context: StageContext,
  isShared: (stage: unknown) => boolean = () => true
): SubPipeline => {
  const variables = new Set(Object.keys(context.variables ?? {}))
  const [shared, rest] = split(stages, variables, isShared)
  return { open: parseShared(name, shared, rest, context), rest }
}

/** The context of a pipeline within a pipeline. Rejects more than 20 levels, as MongoDB does. */
export const nestedContext = (context: StageContext): StageContext =>
  context.depth >= maxPipelines
    ? reject(`pipelines can be in ${maxPipelines} others at most`)
    : { ...context, depth: context.depth + 1 }

/** The name of a collection that a stage reads. */
export const collectionOf = (stage: string, name: unknown): string =>
  typeof name === "string" && name !== "" ? name : reject(`${stage} needs the name of a collection`)

export const isDocumentsStage = (stage: unknown): boolean => isDocument(stage) && Object.hasOwn(stage, "$documents")

/** `$documents`, which begins a pipeline without a collection. */
export const parseDocuments = (operand: unknown, context: StageContext): Transform => {
  const compute = parseExpression(operand, context)
  const open = () => {
    beginEvaluation()
    const value = compute(undefined)
    return isArray(value) && value.every(isDocument)
      ? fromArray(value)
      : reject("$documents needs an array of documents")
  }
  return () => {
    let documents: BatchIterator | undefined
    return () =>
      documents === undefined
        ? Result.flatMap(catchRejection(open), (opened) => (documents = opened)())
        : documents()
  }
}

// internal

const maxPipelines = 20

const parseShared = (
  name: unknown,
  shared: ReadonlyArray<unknown>,
  rest: ReadonlyArray<unknown>,
  context: StageContext
): () => BatchIterator => {
  const [first] = [...shared, ...rest]
  if (isDocumentsStage(first)) {
    if (name !== undefined) return reject("a pipeline with $documents reads no collection")
    const transform = context.parse(shared, context)
    return () => transform(nothing)
  }
  const { options, rest: others } = splitLeadingFind(shared)
  const find = orReject(context.find(collectionOf("a pipeline", name), options, context))
  const transform = context.parse(others, context)
  return () => transform(find())
}

const nothing: BatchIterator = fromArray([])

/** Splits a pipeline before the first stage that differs each time. A `$match` may be split itself. */
const split = (
  stages: ReadonlyArray<unknown>,
  variables: ReadonlySet<string>,
  isShared: (stage: unknown) => boolean
): readonly [shared: ReadonlyArray<unknown>, rest: ReadonlyArray<unknown>] => {
  const at = stages.findIndex((stage) => !isShared(stage) || differs(stage, variables))
  const stage = stages[at]
  if (at < 0) return [stages, []]
  const conditions = isDocument(stage) && isShared(stage) ? stage["$match"] : undefined
  if (!isDocument(conditions)) return [stages.slice(0, at), stages.slice(at)]
  const [same, different] = partition(conditions, (condition) => differs(condition, variables))
  return [
    Object.keys(same).length === 0 ? stages.slice(0, at) : [...stages.slice(0, at), { $match: same }],
    [{ $match: different }, ...stages.slice(at + 1)]
  ]
}

const partition = (document: Document, isSecond: (field: Document) => boolean): readonly [Document, Document] => {
  const fields = Object.entries(document)
  const of = (second: boolean) =>
    Object.fromEntries(fields.filter(([key, value]) => isSecond({ [key]: value }) === second))
  return [of(false), of(true)]
}

// A text that looks like a variable counts as one, even in a literal.
const differs = (value: unknown, variables: ReadonlySet<string>): boolean => {
  if (typeof value === "string") return value.startsWith("$$") && variables.has(value.slice(2).split(".", 1)[0] ?? "")
  if (isArray(value)) return value.some((item) => differs(item, variables))
  return isDocument(value) &&
    Object.entries(value).some(([key, part]) =>
      key === "$sample" || randomOperators.has(key) || differs(part, variables)
    )
}
