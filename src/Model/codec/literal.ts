/** Creates objects with known keys by generated literals, which V8 allocates at their final size. */
import * as Result from "effect/Result"

/** Stands for a missing property. */
export const absentValue: unique symbol = Symbol("nothing")

/** Makes an object with fixed keys from their values in order. A value of {@link absentValue} leaves its key out. */
export type ObjectFactory = (values: ReadonlyArray<unknown>) => { [key: string]: unknown }

/**
 * Compiles one object literal for each combination of present keys. V8 allocates such an object at its final size. An
 * object that grows key by key takes several times as long, and so does each later copy or iteration.
 */
export const objectFactoryOf = (keys: ReadonlyArray<string>): ObjectFactory => {
  const assignKeys: ObjectFactory = (values) => {
    const object: { [key: string]: unknown } = {}
    for (let i = 0; i < keys.length; i++) {
      if (values[i] !== absentValue) object[keys[i]!] = values[i]
    }
    return object
  }
  // `__proto__` in an object literal sets the prototype.
  if (!canGenerate || keys.length > maxKeys || keys.includes("__proto__")) return assignKeys
  const literals = new Map<number, ObjectFactory>()
  return (values) => {
    let presentKeys = 0
    for (let i = 0; i < keys.length; i++) {
      if (values[i] !== absentValue) presentKeys |= 1 << i
    }
    let make = literals.get(presentKeys)
    if (make === undefined) {
      if (literals.size === maxLiterals) return assignKeys(values)
      make = compile(keys, presentKeys)
      literals.set(presentKeys, make)
    }
    return make(values)
  }
}

// The bits of a small integer hold one flag for each key.
const maxKeys = 30

/** Callers control the combinations, so their number is bounded. Frequent combinations come first. */
const maxLiterals = 32

const compile = (keys: ReadonlyArray<string>, presentKeys: number): ObjectFactory => {
  const members = keys.flatMap((key, i) => (presentKeys & 1 << i) === 0 ? [] : [`${JSON.stringify(key)}: values[${i}]`])
  // The code contains only the schema's keys, as JSON strings.
  // oxlint-disable-next-line typescript/no-implied-eval
  return new Function("values", `return {${members.join(", ")}}`) as ObjectFactory
}

/** A process may forbid code generation from strings. */
export const canGenerate: boolean = Result.isSuccess(Result.try(() => compile([], 0)))
