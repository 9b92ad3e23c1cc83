/**
 * The operations that the writers of a crash test run. Each writer's sequence is deterministic, so that the killed
 * program and the test that checks its folder both know it.
 */
import type { Document } from "../../packages/document-store/src/DocumentStore.ts"

/** An operation of one writer. Its documents are named `collection/_id`. */
export interface Step {
  readonly kind: "insert" | "update" | "insertMany" | "transaction" | "updateMany" | "delete" | "replace" | "deleteMany"
  /** The documents after the operation, `undefined` for removed ones. */
  readonly writes: ReadonlyMap<string, Document | undefined>
}

/** The existing documents. */
export type Documents = ReadonlyMap<string, Document>

export const writers = 16
export const accounts = 4
const bulk = 6

export const indexes = [
  { name: "n", key: { n: 1 }, unique: true },
  { name: "tags", key: { tags: 1, of: -1 } },
  { name: "bulk", key: { bulk: 1 }, sparse: true }
] as const

/** The endless sequence of operations of a writer in a round. */
export function* stepsOf(round: number, writer: number): Generator<Step, never> {
  let last: string | undefined
  for (let cycle = 0;; cycle++) {
    const id = `${round}-${writer}-${cycle}`
    const base = { _id: id, of: writer, tags: ["all", `cycle ${cycle % 5}`, `writer ${writer}`] }
    const text = "x".repeat((cycle * 389 + writer * 97) % 3_000)
    yield step("insert", { [`things/${id}`]: { ...base, n: id, text } })
    const updated = { ...base, n: `${id} again`, text, tags: [...base.tags, "updated"] }
    yield step("update", { [`things/${id}`]: updated })
    const some = Array.from({ length: bulk }, (_, i) => `${id}-${i}`)
    yield step("insertMany", named(some, (_id) => ({ _id, of: writer, n: _id, bulk: id, v: 0 })))
    yield step("transaction", {
      [`journal/${id}`]: { _id: id, from: (writer + cycle) % accounts, to: (writer + cycle + 1) % accounts },
      [`things/${id} too`]: { ...base, _id: `${id} too`, n: id, text },
      [`things/${some[0]}`]: undefined
    })
    yield step("updateMany", named(some.slice(1), (_id) => ({ _id, of: writer, n: _id, bulk: id, v: 1 })))
    if (last !== undefined) yield step("delete", { [`things/${last}`]: undefined })
    yield step("replace", { [`things/${id}`]: { ...base, n: `${id} new`, tags: "none" } })
    yield step("deleteMany", named(some.slice(1), () => undefined))
    last = id
  }
}

const step = (kind: Step["kind"], writes: { readonly [name: string]: Document | undefined }): Step => ({
  kind,
  writes: new Map(Object.entries(writes))
})

const named = (ids: ReadonlyArray<string>, make: (id: string) => Document | undefined) =>
  Object.fromEntries(ids.map((id) => [`things/${id}`, make(id)]))

/**
 * The errors in the documents after a number of acknowledged steps of each writer. The next step may have been
 * committed, too; transactions are atomic.
 */
export const problemsOf = (
  before: Documents,
  round: number,
  acknowledged: ReadonlyMap<number, number>,
  found: Documents
): ReadonlyArray<string> => {
  const expected = new Map(before)
  const problems: Array<string> = []
  const same = (name: string, document: Document | undefined) =>
    JSON.stringify(found.get(name)) === JSON.stringify(document)
  const begun: Array<Step> = []
  for (let writer = 0; writer < writers; writer++) {
    const steps = stepsOf(round, writer)
    for (let i = 0; i < (acknowledged.get(writer) ?? 0); i++) {
      for (const [name, document] of steps.next().value.writes) {
        if (document === undefined) expected.delete(name)
        else expected.set(name, document)
      }
    }
    begun.push(steps.next().value)
  }
  for (const { kind, writes } of begun) {
    const names = Array.from(writes.keys())
    const done = names.filter((name) => same(name, writes.get(name)))
    const undone = names.filter((name) => same(name, expected.get(name)))
    const isWhole = kind === "transaction"
      ? done.length === names.length || undone.length === names.length
      : names.every((name) => done.includes(name) || undone.includes(name))
    if (!isWhole) problems.push(`half a ${kind}: ${done.join()} of ${names.join()}`)
    for (const name of names) {
      const document = found.get(name)
      if (document === undefined) expected.delete(name)
      else expected.set(name, document)
    }
  }
  for (const [name, document] of expected) if (!same(name, document)) problems.push(`lost or changed: ${name}`)
  for (const name of found.keys()) if (!expected.has(name)) problems.push(`not written: ${name}`)
  return problems
}
