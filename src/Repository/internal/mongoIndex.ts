import type { IndexDescription as DriverIndex, IndexDescriptionInfo, IndexDirection } from "mongodb"
import type { IndexDescription } from "../DocumentStore.ts"
import { QueryRejected } from "../RepositoryError.ts"

/**
 * What the driver's `createIndexes` takes.
 *
 * @internal
 */
export const toDriverIndex = ({ key, name, sparse, unique }: IndexDescription): DriverIndex => ({
  name,
  // The driver lists the kinds of index that it knows; which there are is for the server to say.
  key: key as { readonly [path: string]: IndexDirection },
  ...unique === true ? { unique } : {},
  ...sparse === true ? { sparse } : {}
})

/**
 * What the driver's `listIndexes` gives. The server keeps a text index under two keys of its own, its fields as weights.
 *
 * @internal
 */
export const fromDriverIndex = (info: IndexDescriptionInfo): IndexDescription => ({
  name: info.name ?? "",
  key: Object.fromEntries(
    Object.entries(info.key).flatMap(([path, kind]): ReadonlyArray<[string, 1 | -1 | string]> =>
      path === "_ftsx"
        ? []
        : path === "_fts"
        ? Object.keys(info.weights ?? {}).map((field) => [field, "text"])
        : [[path, kind === 1 || kind === -1 ? kind : String(kind)]]
    )
  ),
  ...info.unique === true ? { unique: true } : {},
  ...info.sparse === true ? { sparse: true } : {}
})

const sameKey = (a: IndexDescription, b: IndexDescription): boolean =>
  JSON.stringify(Object.entries(a.key)) === JSON.stringify(Object.entries(b.key))

/**
 * Which of the wanted indexes the installed ones stand in the way of; `undefined` when it is none of them.
 *
 * @internal
 */
export const conflictOf = (
  collection: string,
  wanted: ReadonlyArray<IndexDescription>,
  installed: ReadonlyArray<IndexDescription>
): QueryRejected | undefined => {
  for (const index of wanted) {
    const namesake = installed.find(({ name }) => name === index.name)
    const twin = installed.find((other) => other.name !== index.name && sameKey(other, index))
    const isOther = namesake !== undefined && !(
      sameKey(namesake, index) && (namesake.unique ?? false) === (index.unique ?? false)
      && (namesake.sparse ?? false) === (index.sparse ?? false)
    )
    if (isOther || (namesake === undefined && twin !== undefined)) {
      const reason = isOther ? "is there with another definition" : `is there under the name "${twin?.name}"`
      return new QueryRejected({
        operation: "createIndexes",
        detail: `the index "${index.name}" of "${collection}" ${reason}`
      })
    }
  }
  return undefined
}
