import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { ChangePage, Document, DocumentStore, Position } from "../../packages/document-store/src/DocumentStore.ts"

/** What follows from the changes that a log has, which have to fit what was there before each of them. */
export class ChangeFollower {
  /** How many changes there were. */
  changes = 0
  position: Position
  readonly #collections: ReadonlyMap<string, Map<string, Document>>

  constructor(collections: ReadonlyArray<string>, position: Position) {
    this.#collections = new Map(collections.map((name) => [name, new Map<string, Document>()]))
    this.position = position
  }

  /** The documents of a collection, as {@link byId} has them. */
  collection(name: string): ReadonlyMap<string, Document> {
    return this.#collections.get(name) ?? new Map()
  }

  /** Reads the changes up to the last one. */
  readonly follow = (store: DocumentStore["Service"], limit: number) =>
    Effect.gen({ self: this }, function*() {
      let isUpToDate = false
      while (!isUpToDate) {
        const page = yield* store.changes.read([...this.#collections.keys()], { after: this.position, limit })
        this.take(page)
        isUpToDate = page.isUpToDate
      }
    })

  /** Takes the changes of a page. */
  take({ changes, position }: ChangePage): void {
    for (const change of changes) {
      this.changes += 1
      const documents = this.#collections.get(change.collection)
      const key = JSON.stringify(change.id)
      const known = documents?.get(key)
      if (change.operation === "insert") assert.strictEqual(known, undefined)
      else assert.deepStrictEqual(ordered(change.before), known)
      if (change.operation === "delete") documents?.delete(key)
      else documents?.set(key, ordered(change.after))
    }
    this.position = position
  }
}

/** Documents by their identifiers. The order of fields is not part of what a change says. */
export const byId = (documents: ReadonlyArray<Document>): ReadonlyMap<string, Document> =>
  new Map(documents.map((document) => [JSON.stringify(document["_id"]), ordered(document)]))

const ordered = (document: Document): Document =>
  Object.fromEntries(Object.entries(document).toSorted(([a], [b]) => a < b ? -1 : 1))
