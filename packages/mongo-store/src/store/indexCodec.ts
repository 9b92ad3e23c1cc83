/** Converts index descriptions from and to the form of MongoDB's driver. */
import type { Collation, IndexDescription } from "@appkernel/document-store/DocumentStore"
import { normalised } from "@appkernel/document-store/shared"
import type { IndexDescription as DriverIndex, IndexDescriptionInfo, IndexDirection } from "mongodb"
import { toDriverCollation } from "./collation.ts"

/** Encodes a description for the driver's `createIndexes`. */
export const toDriverIndex = (description: IndexDescription): DriverIndex => {
  const { collation, defaultLanguage, key, ...others } = normalised(description)
  return {
    ...others,
    // The driver's type lists only the kinds that it knows; the server decides which exist.
    key: key as { readonly [path: string]: IndexDirection },
    ...defaultLanguage === undefined ? {} : { default_language: defaultLanguage },
    ...collation === undefined ? {} : { collation: toDriverCollation(collation) }
  }
}

/** Decodes a result of `listIndexes`, where a text index has two internal keys, and weights for fields. */
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
    defaultLanguage: info.default_language,
    // The server completes it by the defaults of the locale.
    collation: info["collation"] as Collation | undefined
  })
