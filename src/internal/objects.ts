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

/** Whether every object has something of this name, such as `toString`. */
export const isInherited = (name: PropertyKey): boolean => name in Object.prototype

/** A copy with the object's own properties, which inherits nothing. */
export const bare = (object: object): { readonly [key: string]: unknown } => Object.assign(Object.create(null), object)

/**
 * What reads properties of these names from objects. `in`, by which Effect's parser looks for them, finds what every object inherits,
 * so objects with such names are read as copies.
 */
export const ownOf = (names: ReadonlyArray<string>): (object: object) => { readonly [key: string]: unknown } =>
  // An object has properties of any name, if it has some.
  names.some(isInherited) ? bare : (object) => object as { readonly [key: string]: unknown }
