/** Writes the pages of a collection while they are read, so that only a few documents are in memory at once. */
import type { Document } from "../../Repository/DocumentStore.ts"
import type { UrlQuery } from "../query/urlQuery.ts"
import type { ListResponse } from "../response/listResponse.ts"
import type { WireTextAt } from "../response/wireText.ts"

/** A page that is being read. */
export class StaticPage {
  /** The documents themselves, if hooks need them. */
  readonly documents: Array<Document> = []
  /** The documents that do not fit the model. They count towards the size of the page. */
  readonly unreadable: Array<Document> = []
  /** Why the page ended early: it needs a reservation (`large`), or exceeds its maximum (`too large`). */
  ended: "large" | "too large" | undefined
  readonly #query: UrlQuery
  readonly #textsOf: (documents: ReadonlyArray<Document>) => WireTextAt
  readonly #list: ListResponse
  readonly #isKept: boolean
  #count = 0
  #last: Document | undefined
  #hasMore = false

  constructor(
    query: UrlQuery,
    textsOf: (documents: ReadonlyArray<Document>) => WireTextAt,
    list: ListResponse,
    isKept: boolean
  ) {
    this.#query = query
    this.#textsOf = textsOf
    this.#list = list
    this.#isKept = isKept
  }

  /** Writes the next documents. Returns `false` at the end of the page. */
  readonly take = (documents: ReadonlyArray<Document>): boolean => {
    const textAt = this.#textsOf(documents)
    for (let i = 0; i < documents.length; i++) {
      const document = documents[i]!
      if (this.#count === this.#query.pageSize) {
        this.#hasMore = true
        return false
      }
      const text = textAt(i)
      if (text === undefined) this.unreadable.push(document)
      else {
        const added = this.#list.add(text)
        if (added !== "added") {
          this.ended = added
          return false
        }
        if (this.#isKept) this.documents.push(document)
      }
      this.#count += 1
      this.#last = document
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
