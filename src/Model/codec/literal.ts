import * as Result from "effect/Result"

/**
 * Stands for no value, where an object has none or is to have none.
 *
 * @internal
 */
export const nothing: unique symbol = Symbol("nothing")

/**
 * Makes an object of some known keys, each with the value at its place or, if that is {@link nothing}, not at all.
 *
 * @internal
 */
export type Make = (values: ReadonlyArray<unknown>) => { [key: string]: unknown }

/**
 * For each selection of the keys that comes along, a literal is written and compiled. An object that is one is made at
 * once and has its values in itself; one that grows key by key takes several times as long, and so does whoever copies
 * or collects it.
 *
 * @internal
 */
export const literalOf = (keys: ReadonlyArray<string>): Make => {
  const grow: Make = (values) => {
    const object: { [key: string]: unknown } = {}
    for (let i = 0; i < keys.length; i++) {
      if (values[i] !== nothing) object[keys[i]!] = values[i]
    }
    return object
  }
  // In a literal, `__proto__` is no key.
  if (!canCompile || keys.length > maxKeys || keys.includes("__proto__")) return grow
  const literals = new Map<number, Make>()
  return (values) => {
    let selection = 0
    for (let i = 0; i < keys.length; i++) {
      if (values[i] !== nothing) selection |= 1 << i
    }
    let make = literals.get(selection)
    if (make === undefined) {
      if (literals.size === maxLiterals) return grow(values)
      make = compile(keys, selection)
      literals.set(selection, make)
    }
    return make(values)
  }
}

// As many as fit into a small integer.
const maxKeys = 30

/** Callers may send any selection of optional fields; those that are usual come early. */
const maxLiterals = 32

const compile = (keys: ReadonlyArray<string>, selection: number): Make => {
  const members = keys.flatMap((key, i) => (selection & 1 << i) === 0 ? [] : [`${JSON.stringify(key)}: values[${i}]`])
  // Of the keys, which are those of a schema, only quoted text gets into the code, which makes what it is written for.
  // oxlint-disable-next-line typescript/no-implied-eval
  return new Function("values", `return {${members.join(", ")}}`) as Make
}

/** A process may forbid it. */
const canCompile = Result.isSuccess(Result.try(() => compile([], 0)))
