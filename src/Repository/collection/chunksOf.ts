/** Splits long lists of writes, so that only some of their documents and history entries are in memory at a time. */

// Bounds how many documents and history entries are in memory at a time.
const chunkSize = 200

/** Chunks of a list, each with the index of its first item. */
export const chunksOf = function*<A>(
  all: ReadonlyArray<A>
): Generator<readonly [from: number, chunk: ReadonlyArray<A>]> {
  for (let from = 0; from < all.length; from += chunkSize) yield [from, all.slice(from, from + chunkSize)]
}
