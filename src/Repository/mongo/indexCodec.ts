import type { IndexDescription as DriverIndex, IndexDescriptionInfo, IndexDirection } from "mongodb"
import type { IndexDescription } from "../DocumentStore.ts"
import { normalised } from "../store/indexDefinition.ts"

/**
 * What the driver's `createIndexes` takes.
 *
 * @internal
 */
export const toDriverIndex = (description: IndexDescription): DriverIndex => {
  const { defaultLanguage, expireAfterSeconds, key, name, partialFilterExpression, sparse, unique, weights } =
    normalised(description)
  return {
    name,
    // The driver lists the kinds of index that it knows; which there are is for the server to say.
    key: key as { readonly [path: string]: IndexDirection },
    ...unique === true ? { unique } : {},
    ...sparse === true ? { sparse } : {},
    ...expireAfterSeconds === undefined ? {} : { expireAfterSeconds },
    ...partialFilterExpression === undefined ? {} : { partialFilterExpression: { ...partialFilterExpression } },
    ...weights === undefined ? {} : { weights: { ...weights } },
    ...defaultLanguage === undefined ? {} : { default_language: defaultLanguage }
  }
}

/**
 * What the driver's `listIndexes` gives. The server keeps a text index under two keys of its own, its fields as weights.
 *
 * @internal
 */
export const fromDriverIndex = (info: IndexDescriptionInfo): IndexDescription =>
  normalised({
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
    unique: info.unique,
    sparse: info.sparse,
    expireAfterSeconds: info.expireAfterSeconds,
    partialFilterExpression: info.partialFilterExpression,
    weights: info.weights,
    defaultLanguage: info.default_language
  })
