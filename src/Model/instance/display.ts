/** What the console, logs and `JSON.stringify` show of an instance. Omitted fields, such as passwords, are left out. */
import * as Formatter from "effect/Formatter"
import * as Inspectable from "effect/Inspectable"
import type { FieldAttributes } from "../shape/annotations.ts"

/** An instance without omitted fields, as in `JSON.stringify`, on the console and in logs. */
export const display = (
  name: string,
  attributes: { readonly [key: string]: FieldAttributes }
): PropertyDescriptorMap => {
  if (Object.values(attributes).every(({ omitted }) => omitted !== true)) return {}
  const shown = (self: object): object =>
    Object.fromEntries(Object.entries(self).filter(([key]) => attributes[key]?.omitted !== true))
  return nonEnumerable({
    toString(this: object) {
      return `${name}(${Formatter.format(shown(this))})`
    },
    toJSON(this: object) {
      return shown(this)
    },
    [Inspectable.NodeInspectSymbol](this: object, _depth: number, options: object, inspect: Inspect) {
      return `${name} ${inspect(shown(this), options)}`
    }
  })
}

type Inspect = (value: unknown, options: object) => string

const nonEnumerable = (all: object): PropertyDescriptorMap =>
  Object.fromEntries(
    Reflect.ownKeys(all).map((key) => [
      key,
      { value: Reflect.get(all, key), configurable: true, writable: true, enumerable: false }
    ])
  )
