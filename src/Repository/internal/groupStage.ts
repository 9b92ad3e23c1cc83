/**
 * `$group`: documents come to their groups one after the other, and the groups are computed a few at a time.
 */
import * as Result from "effect/Result"
import type { Document } from "../DocumentStore.ts"
import { isDocument, setField } from "./bsonValue.ts"
import {
  accumulate,
  attempt,
  evaluate,
  evaluationOptions,
  isAccumulator,
  isExpression,
  problemOf,
  withNow
} from "./expression.ts"
import { component } from "./orderedKey.ts"
import { rejected, unsupported } from "./problem.ts"
import { defined } from "./projection.ts"
import { after, ended, mapChunks, type Source } from "./source.ts"
import type { StageParser } from "./stage.ts"

interface Group {
  readonly key: unknown
  readonly documents: Array<Document>
}

/** @internal */
export const parseGroup: StageParser = (operand, { now }) => {
  if (!isDocument(operand) || !Object.hasOwn(operand, "_id")) return Result.fail(rejected("$group needs an _id"))
  const { _id, ...fields } = operand
  for (const [name, accumulation] of Object.entries(fields)) {
    const [accumulator = "", ...others] = isDocument(accumulation) ? Object.keys(accumulation) : []
    if (name.includes(".") || name.startsWith("$")) {
      return Result.fail(rejected(`$group can't make the field "${name}"`))
    }
    if (accumulator === "$accumulator") return Result.fail(unsupported(accumulator))
    if (others.length > 0 || !isAccumulator(accumulator)) {
      return Result.fail(rejected(`"${name}" of $group needs exactly one accumulator`))
    }
  }
  const problem = problemOf(operand, (name) => name === "_id" || isExpression(name))
  if (problem !== undefined) return Result.fail(problem)
  const keyExpression = withNow(_id, now)
  const accumulations = Object.entries(fields).map(([name, expression]) => [name, withNow(expression, now)] as const)
  return Result.succeed((source) => {
    const options = evaluationOptions()
    const groups = new Map<string, Group>()
    const toDocument = ({ documents, key }: Group): Document => {
      const result: { [name: string]: unknown } = { _id: key }
      for (const [name, expression] of accumulations) {
        setField(result, name, defined(accumulate(documents, expression, key, options)) ?? null)
      }
      return result
    }
    return after(source, (documents) => {
      const added = attempt(() => {
        for (const document of documents) {
          const key = defined(evaluate(document, keyExpression, options)) ?? null
          const text = component(key, { inexact: false })
          const group = groups.get(text)
          if (group === undefined) groups.set(text, { key, documents: [document] })
          else group.documents.push(document)
        }
      })
      return Result.isFailure(added) ? added.failure : undefined
    }, () =>
      mapChunks(
        inSteps(Array.from(groups.values())),
        (steps) => attempt(() => steps.map(toDocument))
      ))
  })
}

// As many groups in one step as have a chunk's worth of documents.
const inSteps = (groups: ReadonlyArray<Group>): Source<Group> => {
  let at = 0
  return () => {
    if (at >= groups.length) return ended
    const start = at
    for (let weight = 0; at < groups.length && weight < 256; at++) weight += groups[at]?.documents.length ?? 0
    return Result.succeed(groups.slice(start, at))
  }
}
