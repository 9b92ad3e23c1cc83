/** Prints a scenario as calls that can be pasted into a test. */
import { inspect } from "node:util"
import type { Call, Scenario } from "./scenario.ts"

export const printed = ({ calls, documents, indexes, rules }: Scenario): string =>
  [
    `const { name, store } = yield* collectionOf(${source(documents)})`,
    ...(indexes.length === 0 ? [] : [`yield* store.createIndexes(name, ${source(indexes)})`]),
    ...(rules === undefined ? [] : [`yield* store.setValidator(name, ${source(rules)})`]),
    ...calls.map(printedCall)
  ].join("\n")

export const printedCall = ({ call, ...operands }: Call): string => {
  const { document, filter, path, pipeline, update, ...options } = operands as { readonly [key: string]: unknown }
  if (call === "find") return `yield* store.find(name, ${source(operands)})`
  const given = [path, filter, pipeline, update ?? document, options].filter((part) => part !== undefined)
  const all = Object.values(options).every((option) => option === undefined) ? given.slice(0, -1) : given
  const operandsOf = `(name, ${all.map(source).join(", ")})`
  return pipeline === undefined
    ? `yield* store.${call}${operandsOf}`
    : `yield* Stream.runCollect(store.aggregate${operandsOf})`
}

/** A value as TypeScript. */
export const source = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(source).join(", ")}]`
  if (value instanceof Date) return `new Date(${value.getTime()})`
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value)
  if (typeof value === "string") return JSON.stringify(value)
  if (typeof value !== "object" || value === null || value instanceof RegExp) return String(value)
  // The classes of `bson` print how they are made.
  if ("_bsontype" in value) return inspect(value, { breakLength: Infinity }).replaceAll("\n", " ")
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return fields.length === 0
    ? "{}"
    : `{ ${
      fields.map(([key, field]) => `${/^[\w$]+$/.test(key) ? key : JSON.stringify(key)}: ${source(field)}`).join(", ")
    } }`
}
