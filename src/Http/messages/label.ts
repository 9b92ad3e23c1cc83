/**
 * A name of the program as people write it, for what no catalogue has a label for: `lent_to` and `lentTo` are `Lent to`.
 *
 * @internal
 */
export const labelFrom = (name: string): string => {
  const words = name.replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, " ").split(/[_\s]+/u).filter((word) => word !== "")
  if (words.length === 0) return name
  const [first = "", ...others] = words.map((word) => isAcronym.test(word) ? word : word.toLowerCase())
  return [`${first.charAt(0).toUpperCase()}${first.slice(1)}`, ...others].join(" ")
}

const isAcronym = /^\p{Lu}{2,}$/u
