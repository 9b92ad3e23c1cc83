/**
 * What is measured of a store, and how a contestant answers.
 */
import type * as Effect from "effect/Effect"
import { codeOf, idOf, product, type Range, range, rangeFrom, type StoredProduct, target } from "./data.ts"

/** How a store answers: at once or by promises, or by effects. Nobody pays for another one's way. */
export type Kind = "plain" | "effect"

type Answer<K extends Kind, A> = K extends "effect" ? Effect.Effect<A, unknown> : A | Promise<A>

/** Products with indexes on `code`, which is unique, and on `added`. A write is awaited until the store calls it done. */
interface Products<K extends Kind> {
  readonly get: (id: string) => Answer<K, StoredProduct | undefined>
  readonly find: (code: string) => Answer<K, ReadonlyArray<StoredProduct>>
  readonly range: (range: Range) => Answer<K, ReadonlyArray<StoredProduct>>
  /** Fails when there is one with its identifier or its code. */
  readonly insert: (product: StoredProduct) => Answer<K, unknown>
  readonly update: (id: string, stock: number) => Answer<K, unknown>
  /** Reads all products one after the other, as far as the store can, and adds up their prices. */
  readonly total: () => Answer<K, number>
  /** Inserts many in the way that the store likes best. */
  readonly fill: (products: ReadonlyArray<StoredProduct>) => Answer<K, unknown>
  /** Removes what was added at that time, and later. */
  readonly removeFrom: (added: Date) => Answer<K, unknown>
}

/** A store that is open. */
export interface Store<K extends Kind> {
  readonly products: Products<K>
  readonly one: <A>(answer: Answer<K, A>) => Promise<A>
  /** Does it for each input, one after the other. */
  readonly inTurn: <I>(inputs: ReadonlyArray<I>, act: (input: I) => Answer<K, unknown>) => Promise<void>
  readonly close: () => Promise<void>
}

/** Opens a store in an empty folder, and makes its indexes. */
export type Open<K extends Kind> = (folder: string) => Promise<Store<K>>

/** How those answer that know no effects. */
export const plain: Pick<Store<"plain">, "one" | "inTurn"> = {
  one: async (answer) => answer,
  inTurn: async (inputs, act) => {
    for (const input of inputs) {
      const answer = act(input)
      if (answer instanceof Promise) await answer
    }
  }
}

/** A measured operation, on so many products. */
interface Row<I> {
  readonly title: string
  readonly input: (n: number, size: number) => I
  readonly act: <K extends Kind>(products: Products<K>, input: I) => Answer<K, unknown>
  /** How many wait for their answers at the same time. */
  readonly writers: number
}

const row = <I>(row: Row<I>): Row<I> => row

const writers = 64

const get = row({
  title: "get by id",
  writers: 1,
  input: (n, size) => idOf(target(n, size)),
  act: (products, id) => products.get(id)
})
const find = row({
  title: "find by index",
  writers: 1,
  input: (n, size) => codeOf(target(n, size)),
  act: (products, code) => products.find(code)
})
const inRange = row({
  title: "range, sorted",
  writers: 1,
  input: (n, size) => rangeFrom(target(n, size - range.width)),
  act: (products, range) => products.range(range)
})
const stream = row({
  title: "stream, a document",
  writers: 1,
  input: () => undefined,
  act: (products) => products.total()
})
const insert = row({
  title: "insert",
  writers: 1,
  input: (n, size) => product(size + n),
  act: (products, product) => products.insert(product)
})
const update = row({
  title: "update by id",
  writers: 1,
  input: (n, size) => ({ id: idOf(target(n, size)), stock: n }),
  act: (products, { id, stock }) => products.update(id, stock)
})

/** In the order in which they are measured: updates change what the others look for, and come last. */
export const rows = {
  get,
  find,
  range: inRange,
  stream,
  insert,
  insert64: { ...insert, title: `insert, ${writers} at once`, writers },
  update,
  update64: { ...update, title: `update, ${writers} at once`, writers }
}

export type RowName = keyof typeof rows
