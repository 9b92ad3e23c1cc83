/** Safe access to objects of unknown origin: plain objects and own properties, without what every object inherits. */

/** Whether the value is an object without a class. */
export const isPlainObject = (value: unknown): value is { readonly [key: string]: unknown } => {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** The own property of an object; `undefined` of anything else. */
export const ownValue = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
