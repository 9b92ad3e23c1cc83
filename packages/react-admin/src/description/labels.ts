/** Words for names of a program. */

/** `lent_to` is "Lent to", `createdAt` is "Created at". */
export const labelOf = (name: string): string => {
  const words = name.replaceAll(/[_.-]+/gu, " ").replaceAll(/(?<=[a-z\d])(?=[A-Z])/gu, " ").trim().toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
