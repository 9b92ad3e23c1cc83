/** Computes missing values of a map, for caches by keys of any type. */

/** The value of a key. `make` computes a missing one. `memoize` of Effect does the same by objects, as long as they live. */
export const getOrMake = <K, V extends {}>(map: Map<K, V>, key: K, make: () => V): V => {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
