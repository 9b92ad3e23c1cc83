/** All texts of a value: logged, printed, quoted and reported. */
import { Cause, Formatter } from "effect"
import { format, inspect } from "node:util"

export const everyTextOf = (value: unknown): ReadonlyArray<string> => [
  format("%s", value),
  JSON.stringify(value),
  inspect(value, { depth: 20 }),
  Formatter.format(value),
  Formatter.formatJson(value),
  Cause.pretty(Cause.fail(value)),
  inspect(Cause.fail(value), { depth: 20 })
]
