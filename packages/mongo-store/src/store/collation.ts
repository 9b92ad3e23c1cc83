/** Collations in the form of MongoDB's driver. */
import type { Collation, CollationOptions as Options } from "@appkernel/document-store/DocumentStore"
import type { CollationOptions } from "mongodb"

/** A collation without its fields that are `undefined`, which a server rejects. */
export const toDriverCollation = ({ locale, ...options }: Collation): CollationOptions => ({
  locale,
  ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
})

/** The collation of an operation as an option of the driver's. */
export const collationOf = ({ collation }: Options = {}): { readonly collation?: CollationOptions } =>
  collation === undefined ? {} : { collation: toDriverCollation(collation) }
