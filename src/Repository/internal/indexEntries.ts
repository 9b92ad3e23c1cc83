/**
 * The entries of documents in indexes.
 */
import * as Result from "effect/Result"
import type { Document } from "../DocumentStore.ts"
import { fieldOf, isArray, isDocument } from "./bsonValue.ts"
import type { Index } from "./catalog.ts"
import { isPosition, keysOf, type Segments } from "./documentPath.ts"
import { component, fit, invert } from "./orderedKey.ts"

/** @internal */
export interface Entries {
  readonly keys: ReadonlySet<string>
  readonly multikey: boolean
  readonly inexact: boolean
}

const none: Entries = { keys: new Set(), multikey: false, inexact: false }

/**
 * The keys of a document in an index. In a unique index they are of the values alone, so that two documents with the
 * same meet.
 *
 * @internal
 */
export const entriesOf = (index: Index, document: Document, documentKey: string): Result.Result<Entries, string> => {
  if (index.description.sparse === true && !index.directions.some(({ path }) => leadsSomewhere(document, path, 0))) {
    return Result.succeed(none)
  }
  const suffix = index.description.unique === true ? "" : documentKey
  return Result.map(keysOf(document, index.directions.map(({ path }) => path)), ({ keys, multiple }) => {
    const notes = { inexact: false }
    return {
      keys: new Set(keys.map((values) =>
        fit(
          index.directions
            .map(({ descending }, i) => descending ? invert(component(values[i], notes)) : component(values[i], notes))
            .join(""),
          notes
        ) + suffix
      )),
      multikey: multiple,
      inexact: notes.inexact
    }
  })
}

const leadsSomewhere = (node: unknown, path: Segments, at: number): boolean => {
  const segment = path[at]
  if (segment === undefined) return node !== undefined
  if (isDocument(node)) return leadsSomewhere(fieldOf(node, segment), path, at + 1)
  if (!isArray(node)) return false
  return (isPosition(segment) && leadsSomewhere(node[Number(segment)], path, at + 1))
    || node.some((item) => isDocument(item) && leadsSomewhere(item, path, at))
}
