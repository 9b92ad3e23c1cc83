/** Parses the window functions of `$setWindowFields`. */
import type { Direction } from "../bson/path.ts"
import { isDocument } from "../bson/value.ts"
import type { ExpressionContext } from "../expression/expression.ts"
import { parseConstant, parseExpression } from "../expression/parseExpression.ts"
import { reject } from "../limits/queryProblem.ts"
import { windowAccumulators } from "./accumulatedWindow.ts"
import { collectingFunctions } from "./collectedWindow.ts"
import { orderFunctions } from "./orderFunctions.ts"
import { rateFunctions } from "./rateFunctions.ts"
import type { WindowFunction } from "./window.ts"

/** Parses the function of a field, `{ $sum: "$n", window: { documents: [-1, 0] } }`. May throw. */
export const parseWindowFunction = (
  field: string,
  given: unknown,
  sort: ReadonlyArray<Direction>,
  context: ExpressionContext
): WindowFunction => {
  const { window, ...functions } = isDocument(given) ? given : {}
  const [name = "", ...others] = Object.keys(functions)
  const parser = functionParsers.get(name)
  if (parser === undefined || others.length > 0) {
    return reject(`"${field}" of $setWindowFields needs exactly one window function`)
  }
  const parse = (expression: unknown) => parseExpression(expression, context)
  const constant = (expression: unknown): unknown => parseConstant(name, expression, context)
  return parser(functions[name], window, { sort, parse, constant, collator: context.collator })
}

// internal

export const functionParsers = new Map([
  ...windowAccumulators,
  ...collectingFunctions,
  ...orderFunctions,
  ...rateFunctions
])
