import type { FieldDescription, ResourceDescription } from "@appkernel/react-admin"

/** How many columns a list has until somebody chooses others. */
const columnCount = 7

/** The fields that a list can show: what is answered. */
export const columnsOf = ({ fields, representation }: ResourceDescription): ReadonlyArray<FieldDescription> => {
  const shown = fields.filter(({ isWriteOnly, type }) => !isWriteOnly && type !== "password")
  // Pictures and names are what rows are recognised by.
  const rank = ({ path, type }: FieldDescription): number =>
    type === "image" ? 0 : path === representation ? 1 : path === "id" ? 3 : 2
  return shown.toSorted((one, other) => rank(one) - rank(other))
}

/** The columns in the order that somebody has chosen: `ranks` has the place of each in the list of them all. */
export const inOrder = <A>(columns: ReadonlyArray<A>, ranks: ReadonlyArray<number> = []): ReadonlyArray<A> => {
  const ordered: Array<A> = []
  for (const [i, column] of columns.entries()) {
    const rank = ranks.indexOf(i)
    ordered[rank === -1 ? i : rank] = column
  }
  return ordered.filter(() => true)
}

const isOfService = /^(?:version|revision|updated|updated_by|created_by|sha256|password|hash)$/u

/** The paths of the columns that are hidden until somebody chooses them. */
export const hiddenColumnsOf = (resource: ResourceDescription): ReadonlyArray<string> => {
  const columns = columnsOf(resource)
  const isQuiet = ({ path, type }: FieldDescription) =>
    (path === "id" && resource.representation !== "id" && resource.fields.length > 2)
    || type === "longText" || type === "markdown" || type === "json" || type === "model" || isOfService.test(path)
  const shown = new Set(columns.filter((field) => !isQuiet(field)).slice(0, columnCount).map(({ path }) => path))
  // A model of such fields alone still has columns.
  if (shown.size === 0) { for (const { path } of columns.slice(0, columnCount)) shown.add(path) }
  return columns.filter(({ path }) => !shown.has(path)).map(({ path }) => path)
}
