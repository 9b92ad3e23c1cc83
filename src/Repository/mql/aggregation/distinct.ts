/**
 * The different values that documents have at a path.
 */
import * as Result from "effect/Result"
import { isPosition, type Segments } from "../../bson/path.ts"
import { fieldOf, isArray, isDocument } from "../../bson/value.ts"
import { ValueSet } from "../../bson/valueSet.ts"
import { mapChunks, type Source } from "../execution/batchIterator.ts"

/**
 * Each value once, where it is met first.
 *
 * @internal
 */
export const distinctValues = (documents: Source, path: Segments): Source<unknown> => {
  const known = new ValueSet()
  return mapChunks(documents, (some) => {
    const fresh: Array<unknown> = []
    const add = (value: unknown) => {
      if (known.add(value)) fresh.push(value)
    }
    for (const document of some) visitValues(document, path, 0, add)
    return Result.succeed(fresh)
  })
}

// internal

const visitValues = (node: unknown, path: Segments, at: number, visit: (value: unknown) => void): void => {
  const segment = path[at]
  if (segment === undefined) {
    if (isArray(node)) node.forEach((item) => visit(item))
    else if (node !== undefined) visit(node)
  } else if (isDocument(node)) visitValues(fieldOf(node, segment), path, at + 1, visit)
  else if (isArray(node)) {
    if (isPosition(segment)) visitValues(node[Number(segment)], path, at + 1, visit)
    else for (const item of node) if (isDocument(item)) visitValues(item, path, at, visit)
  }
}
