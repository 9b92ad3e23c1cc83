/**
 * Writes the pages of a collection while they are read, so that only a few documents are in memory at once.
 */
import type { Document } from "../../Repository/DocumentStore.ts"
import type { UrlQuery } from "../query/urlQuery.ts"
import type { ListResponse } from "../response/listResponse.ts"

/**
 * A page that is being read.
 *
 * @internal
 */
export class Page {
  /** The documents themselves, if hooks need them. */
  readonly documents: Array<Document> = []
  /**
   * Why the page ended early: it has to be reserved, exceeds its maximum, or contains a document that does not match
   * the model.
   */
  ended: "large" | "too large" | { readonly corrupt: Document } | undefined
  readonly #query: UrlQuery
  readonly #serialise: (document: Document) => string | undefined
  readonly #list: ListResponse
  readonly #isKept: boolean
  #count = 0
  #last: Document | undefined
  #hasMore = false

  constructor(
    query: UrlQuery,
    serialise: (document: Document) => string | undefined,
    list: ListResponse,
    isKept: boolean
  ) {
    this.#query = query
    this.#serialise = serialise
    this.#list = list
    this.#isKept = isKept
  }

  /** Writes the next documents. Returns `false` at the end of the page. */
  readonly take = (documents: ReadonlyArray<Document>): boolean => {
    for (const document of documents) {
      if (this.#count === this.#query.pageSize) {
        this.#hasMore = true
        return false
      }
      const text = this.#serialise(document)
      const added = text === undefined ? { corrupt: document } : this.#list.add(text)
      if (added !== "added") {
        this.ended = added
        return false
      }
      this.#count += 1
      this.#last = document
      if (this.#isKept) this.documents.push(document)
    }
    return true
  }

  /** Whether further documents were read. */
  get hasNext(): boolean {
    return this.#hasMore || this.ended === "too large"
  }

  /** The cursor of the next page, in cursor pagination. */
  get next(): string | undefined {
    return this.hasNext && this.#last !== undefined ? this.#query.keyset?.cursor(this.#last) : undefined
  }
}
