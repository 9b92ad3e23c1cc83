/** Variables that a stage or an operation binds with `let`. */
import * as Result from "effect/Result"
import { isArray, isDocument } from "../bson/value.ts"
import { beginEvaluation } from "../limits/costBudget.ts"
import { catchRejection, type Problem, reject } from "../limits/queryProblem.ts"
import { sizeOfValue } from "../limits/sizeLimits.ts"
import { type ExpressionContext, Variable } from "./expression.ts"
import { variableName } from "./loopOperators.ts"
import { parseExpression } from "./parseExpression.ts"

export interface LetVariables<A extends ExpressionContext = ExpressionContext> {
  /** The context of the expressions that use the variables. */
  readonly context: A
  /** Computes the values of the variables for a document. May throw. */
  readonly bind: (document: unknown) => void
}

/** Parses the operand of `let`; `name` is what has it. May throw. */
export const parseLet = <A extends ExpressionContext>(operand: unknown, name: string, context: A): LetVariables<A> => {
  if (!isDocument(operand)) return reject(`the let of ${name} needs a document of variables`)
  const bound = Object.entries(operand).map(([variable, value]) =>
    [variableName(name, variable), new Variable(), parseExpression(value, context)] as const
  )
  const variables = Object.fromEntries(bound.map(([variable, cell]) => [variable, cell]))
  return {
    context: { ...context, variables: { ...context.variables, ...variables } },
    bind: (document) => {
      for (const [, variable, read] of bound) {
        variable.value = read(document)
        sizeOfValue(variable.value)
      }
    }
  }
}

/** The context of an operation's expressions, with the variables of its option `let`. They see no document. */
export const contextWith = (
  operand: unknown,
  context: ExpressionContext
): Result.Result<ExpressionContext, Problem> => {
  if (operand === undefined) return Result.succeed(context)
  return catchRejection(() => {
    const { bind, context: scope } = parseLet(operand, "an operation", context)
    const field = fieldIn(operand)
    if (field !== undefined) return reject(`"${field}" in let: there is no document yet`)
    beginEvaluation()
    bind(undefined)
    return scope
  })
}

// internal

/** A reference to a field in an expression, if there is one. */
const fieldIn = (expression: unknown): string | undefined => {
  if (typeof expression === "string") return /^\$(?!\$)|^\$\$(?:ROOT|CURRENT)\b/.exec(expression)?.input
  if (isArray(expression)) return first(expression)
  return isDocument(expression) && !Object.hasOwn(expression, "$literal") ? first(Object.values(expression)) : undefined
}

const first = (expressions: ReadonlyArray<unknown>): string | undefined => {
  for (const expression of expressions) {
    const field = fieldIn(expression)
    if (field !== undefined) return field
  }
  return undefined
}
