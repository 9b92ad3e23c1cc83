/** Reads a page of documents, and what they refer to, before it is written. */
import * as Effect from "effect/Effect"
import type { Document } from "../../Repository/DocumentStore.ts"
import type { Limits } from "../KernelConfig.ts"
import type { HandlerFailure } from "../response/handlerFailures.ts"
import { maxSmallLength } from "../response/listResponse.ts"
import { embeddedInto } from "../response/representation.ts"
import { eachBy, type WireText, type WireTextAt } from "../response/wireText.ts"
import type { Embed, PageReader } from "./embeddable.ts"

export interface PageReading {
  readonly find: PageReader
  /** Reads the page once more, without its count. */
  readonly findAgain: PageReader
  readonly pageSize: number
  readonly textsOf: (documents: ReadonlyArray<Document>) => WireTextAt
  readonly shows: (document: Document, field: string) => boolean
  /** Runs before more is held than a small response has. */
  readonly reserve: Effect.Effect<void, HandlerFailure>
}

/** A page that was read. */
export interface ReadPage {
  readonly find: PageReader
  readonly textsOf: (documents: ReadonlyArray<Document>) => WireTextAt
}

/** Reads the documents of a page as far as a page of their own texts would go, and then what is embedded. */
export const readPage = Effect.fnUntraced(function*(
  embed: Embed,
  { find, findAgain, pageSize, shows, textsOf, ...reading }: PageReading,
  { maxPageBytes }: Limits
) {
  let isReserved = false
  const reserve = once(Effect.tap(reading.reserve, () =>
    Effect.sync(() => {
      isReserved = true
    })))
  const texts = new Map<Document, WireText | undefined>()
  let bytes = 0
  const take = (documents: ReadonlyArray<Document>): boolean => {
    const textAt = textsOf(documents)
    for (let i = 0; i < documents.length; i++) {
      const wire = textAt(i)
      texts.set(documents[i]!, wire)
      bytes += wire?.text.length ?? 0
      const isFull = texts.size > pageSize || bytes > maxPageBytes && texts.size > 1
      if (isFull || bytes > maxSmallLength && !isReserved) return false
    }
    return true
  }
  const total = yield* find(take)
  if (bytes > maxSmallLength) {
    yield* reserve
    texts.clear()
    bytes = 0
    yield* findAgain(take)
  }
  const documents = [...texts.keys()]
  const shown = documents.slice(0, pageSize)
  const embeddedOf = yield* embed(shown, shows, reserve)
  for (let place = 0; place < shown.length; place++) {
    const own = texts.get(shown[place]!)
    if (own !== undefined) texts.set(shown[place]!, embeddedInto(own, embeddedOf(place)))
  }
  const page: ReadPage = {
    find: (take) =>
      Effect.sync(() => {
        take(documents)
        return total
      }),
    textsOf: eachBy((document) => texts.get(document))
  }
  return page
})

/** Runs an effect the first time only. */
export const once = <E>(effect: Effect.Effect<void, E>): Effect.Effect<void, E> => {
  let isDone = false
  return Effect.suspend(() => {
    if (isDone) return Effect.void
    isDone = true
    return effect
  })
}
