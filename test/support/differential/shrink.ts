/** Makes a failing scenario as small as possible: leaves out what it can, and replaces the rest by something simpler. */
import { Effect } from "effect"
import type { Document } from "../../../packages/document-store/src/DocumentStore.ts"
import type { Call, Scenario } from "./scenario.ts"

/** The smallest scenario found that still fails, within a number of attempts. */
export const smallest = Effect.fnUntraced(function*<R>(
  scenario: Scenario,
  fails: (scenario: Scenario) => Effect.Effect<boolean, never, R>,
  attempts = 3_000
) {
  let best = scenario
  let left = attempts
  let found = true
  while (found) {
    found = false
    for (const candidate of simplerScenarios(best)) {
      if (left <= 0) return best
      left -= 1
      if (yield* fails(candidate)) {
        best = candidate
        found = true
        break
      }
    }
  }
  return best
})

function* simplerScenarios(scenario: Scenario): Generator<Scenario> {
  for (const calls of shorter(scenario.calls)) yield { ...scenario, calls }
  for (const documents of shorter(scenario.documents)) if (documents.length > 0) yield { ...scenario, documents }
  for (const indexes of shorter(scenario.indexes)) yield { ...scenario, indexes }
  if (scenario.rules !== undefined) {
    yield { ...scenario, rules: undefined }
    for (const rules of simplerFields(scenario.rules)) yield { ...scenario, rules }
  }
  for (const calls of withOne(scenario.calls, simplerCalls)) yield { ...scenario, calls }
  for (const documents of withOne(scenario.documents, simplerStored)) yield { ...scenario, documents }
}

function* shorter<A>(list: ReadonlyArray<A>): Generator<ReadonlyArray<A>> {
  if (list.length > 3) yield list.slice(0, list.length >> 1)
  if (list.length > 3) yield list.slice(list.length >> 1)
  for (let i = list.length - 1; i >= 0; i--) yield list.toSpliced(i, 1)
}

function* withOne<A>(list: ReadonlyArray<A>, simpler: (item: A) => Iterable<A>): Generator<ReadonlyArray<A>> {
  for (const [index, item] of list.entries()) for (const other of simpler(item)) yield list.with(index, other)
}

function* simplerStored({ _id, ...fields }: Document): Generator<Document> {
  for (const simpler of simplerFields(fields)) yield { _id, ...simpler }
}

// The parts of a call keep their kinds: a filter stays a document.
const required = new Set(["call", "filter", "update", "pipeline", "document", "path", "upsert"])

function* simplerCalls(call: Call): Generator<Call> {
  for (const [key, value] of Object.entries(call)) {
    if (key === "call" || value === undefined) continue
    // The casts keep the kind of call.
    if (!required.has(key)) yield without(call, key) as Call
    for (const simpler of Array.isArray(value) ? simplerItems(value) : simplerValues(value)) {
      if (isPlain(value) && !isPlain(simpler)) continue
      const other = { ...call, [key]: simpler } as Call
      if (!makesIdentifier(other)) yield other
    }
  }
}

// Stores generate different ones.
const makesIdentifier = (call: Call): boolean =>
  call.call === "updateOne" && call.upsert && !Object.hasOwn(call.filter, "_id")

const isPlain = (value: unknown): value is Document =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

const without = (document: object, key: string): object =>
  Object.fromEntries(Object.entries(document).filter(([other]) => other !== key))

function* simplerFields(document: Document): Generator<Document> {
  for (const key of Object.keys(document)) yield { ...without(document, key) }
  for (const [key, value] of Object.entries(document)) {
    for (const simpler of simplerValues(value)) yield { ...document, [key]: simpler }
  }
}

function* simplerItems(list: ReadonlyArray<unknown>): Generator<ReadonlyArray<unknown>> {
  yield* shorter(list)
  yield* withOne(list, simplerValues)
}

function* simplerValues(value: unknown): Generator<unknown> {
  if (Array.isArray(value)) {
    yield* value
    yield* simplerItems(value)
  } else if (isPlain(value)) {
    yield* Object.values(value)
    yield* simplerFields(value)
  } else if (typeof value === "string") {
    if (value !== "" && !value.startsWith("$")) yield* value === "a" ? [""] : ["a", ""]
  } else if (typeof value === "number") {
    if (value !== 0 && value !== 1) yield* [1, 0]
  } else if (typeof value === "object" && value !== null) yield* [null, 1]
}
