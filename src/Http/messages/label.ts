/** Labels of fields that no catalogue names, derived from the field's name. */

/** A readable label for a name without one in the catalogues: `lent_to` and `lentTo` become `Lent to`. */
export const labelFrom = (name: string): string => {
  const words = name.replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, " ").split(/[_\s]+/u).filter((word) => word !== "")
  if (words.length === 0) return name
  const [first = "", ...others] = words.map((word) => isAcronym.test(word) ? word : word.toLowerCase())
  return [`${first.charAt(0).toUpperCase()}${first.slice(1)}`, ...others].join(" ")
}

const isAcronym = /^\p{Lu}{2,}$/u
