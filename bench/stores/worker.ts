/**
 * One store in a process of its own, which does what the run asks for. Its arguments are the contestant and the folder.
 */
import * as assert from "node:assert/strict"
import { type Kind, type Open, type RowName, rows, type Store } from "./contestant.ts"
import { addedAt, codeOf, product, range, rangeFrom } from "./data.ts"
import { extraMemory, type Memory } from "./memory.ts"

/** What the run asks for; it is answered by a number or otherwise as it says, or by the text of an error. */
export type Request =
  /** Fills the store with the first so many products; answered by the seconds that it took. */
  | { readonly act: "fill"; readonly size: number }
  /** Holds what the store answers to what is expected. */
  | { readonly act: "check" }
  /** Does it for so long, and learns how often it can be done in the time of a sample. */
  | { readonly act: "warm"; readonly row: RowName; readonly warmUp: number; readonly millis: number }
  /** Answered by the nanoseconds of an operation. */
  | { readonly act: "measure"; readonly row: RowName }
  | { readonly act: "close" }

/** Streams all documents; answered by the memory that it takes. */
export interface MemoryRequest {
  readonly act: "memory"
}

const opens: { readonly [contestant: string]: () => Promise<{ readonly open: Open<"plain"> | Open<"effect"> }> } = {
  embedded: () => import("./embedded.ts"),
  lmdb: () => import("./lmdb.ts"),
  sqlite: () => import("./sqlite.ts"),
  nedb: () => import("./nedb.ts")
}

const perFill = 5000

const makeWorker = <K extends Kind>({ close, inTurn, one, products }: Store<K>) => {
  let size = 0
  // How many operations there were, and how many there are in a sample, by row.
  const done = new Map<RowName, number>()
  const times = new Map<RowName, number>()

  const fill = async (count: number): Promise<number> => {
    const start = performance.now()
    for (; size < count; size += perFill) {
      const length = Math.min(perFill, count - size)
      await one(products.fill(Array.from({ length }, (_, i) => product(size + i))))
    }
    size = count
    return (performance.now() - start) / 1000
  }

  const check = async (): Promise<number> => {
    for (const index of [0, 1, 2, Math.floor(size / 2), size - 1]) {
      const expected = product(index)
      assert.deepEqual(await one(products.get(expected._id)), expected)
      assert.deepEqual(await one(products.find(expected.code)), [expected])
      const stock = expected.stock + 1
      await one(products.update(expected._id, stock))
      assert.deepEqual(await one(products.get(expected._id)), { ...expected, stock })
      await one(products.update(expected._id, expected.stock))
    }
    assert.deepEqual(await one(products.find(codeOf(size))), [])
    for (const index of [0, Math.floor(size / 3), size - range.width]) {
      const expected = Array.from({ length: range.limit }, (_, i) => product(index + i))
      assert.deepEqual(await one(products.range(rangeFrom(index))), expected)
    }
    const prices = Array.from({ length: size }, (_, index) => product(index).price)
    const total = prices.reduce((sum, price) => sum + price, 0)
    const isTotal = (sum: number) => assert.ok(Math.abs(sum - total) < 0.01, `${sum} is not the total of ${total}`)
    isTotal(await one(products.total()))
    const added = product(size)
    await one(products.insert(added))
    assert.deepEqual(await one(products.find(added.code)), [added])
    await assert.rejects(async () => one(products.insert({ ...product(size + 1), _id: added._id })))
    await assert.rejects(async () => one(products.insert({ ...product(size + 1), code: added.code })))
    await one(products.removeFrom(added.added))
    isTotal(await one(products.total()))
    return size
  }

  const run = async (name: RowName, times: number): Promise<number> => {
    const from = done.get(name) ?? 0
    done.set(name, from + times)
    const { act, input, writers } = rows[name]
    const inputs = Array.from({ length: times }, (_, i) => input(from + i, size))
    const share = Math.ceil(times / writers)
    const shares = Array.from({ length: writers }, (_, i) => inputs.slice(i * share, (i + 1) * share))
    const start = process.hrtime.bigint()
    // Each row's input is the one that its act takes.
    await Promise.all(shares.map((inputs) => inTurn(inputs, (input) => act(products, input as never))))
    const nanos = Number(process.hrtime.bigint() - start)
    if (name.startsWith("insert")) await one(products.removeFrom(addedAt(size)))
    return nanos / times / (name === "stream" ? size : 1)
  }

  const warm = async (name: RowName, warmUp: number, millis: number): Promise<number> => {
    const { writers } = rows[name]
    const perOperation = name === "stream" ? size : 1
    let nanos = 0
    let count = writers
    for (const end = performance.now() + warmUp; performance.now() < end;) {
      nanos = await run(name, count) * perOperation
      count = Math.ceil(20e6 / nanos / writers) * writers
    }
    times.set(name, Math.ceil(millis * 1e6 / nanos / writers) * writers)
    return nanos
  }

  return async (request: Request | MemoryRequest): Promise<number | Memory> => {
    switch (request.act) {
      case "fill":
        return fill(request.size)
      case "check":
        return check()
      case "warm":
        return warm(request.row, request.warmUp, request.millis)
      case "measure":
        return run(request.row, times.get(request.row) ?? 1)
      case "memory":
        return extraMemory(() => one(products.total()))
      case "close":
        await close()
        return 0
    }
  }
}

const [contestant = "", folder = ""] = process.argv.slice(2)
const { open } = await opens[contestant]!()
const store = await open(folder)
const answer = makeWorker(store as Store<Kind>)

process.on("message", (request: Request | MemoryRequest) => {
  answer(request).then(
    (answer) => process.send?.(answer),
    (cause: unknown) => process.send?.(cause instanceof Error ? cause.stack ?? cause.message : String(cause))
  )
})
process.send?.(0)
