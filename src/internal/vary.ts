/** Merges `Vary` headers, to which several parts of a response contribute. */

/** Adds names to the value of `Vary`. */
export const varyWith = (known: string | undefined, names: ReadonlyArray<string>): string => {
  if (known === undefined) return names.join(", ")
  const listed = new Set(known.toLowerCase().split(",").map((name) => name.trim()))
  if (listed.has("*")) return known
  return [known, ...names.filter((name) => !listed.has(name.toLowerCase()))].join(", ")
}
