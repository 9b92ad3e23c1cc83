import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Context, Effect, Layer, type Scope } from "effect"
import { DocumentStore } from "../../packages/document-store/src/DocumentStore.ts"
import * as EmbeddedStore from "../../src/Repository/EmbeddedStore.ts"
import { others, type Store } from "../support/differential/answers.ts"
import { differenceOf, kindOf, type Peer, reportOf, withoutIndexes } from "../support/differential/compare.ts"
import { type Scenario, scenariosOf } from "../support/differential/scenario.ts"
import { smallest } from "../support/differential/shrink.ts"
import { freshFolder } from "../support/folders.ts"
import { onMongo } from "../support/mongo.ts"
import { answersOtherwise, differencesOf } from "../support/serverDifferences.ts"

// Scenarios of a few calls each. A long run has 100,000.
const runs = Number(process.env["DIFFERENTIAL_RUNS"] ?? 150)

// A short run generates the same scenarios each time: a substitute of MongoDB has faults that nobody has met yet.
const seed = process.env["DIFFERENTIAL_RUNS"] === undefined ? 1 : undefined

// New stores after so many scenarios, since each scenario leaves a collection.
const batch = 500

// Scenarios of all kinds, or of this one.
const generated = scenariosOf(process.env["DIFFERENTIAL_KIND"])

const serverRuns = Math.ceil(runs / 3)

// For 100,000 scenarios on a busy machine: some hours.
const timeout = 60_000 + runs * 500

type Built = Effect.Effect<Store, unknown, Scope.Scope>

const built = <E>(layer: Layer.Layer<DocumentStore, E>): Built =>
  Effect.gen(function*() {
    const store = Context.get(yield* Layer.build(layer), DocumentStore)
    yield* store.insertMany("others", others)
    return store
  })

/** Fails with the smallest scenario found that the peers answer otherwise than the store in memory. */
const check = (
  count: number,
  peersOf: (memory: Store) => Effect.Effect<ReadonlyArray<Peer>, unknown, Scope.Scope>
) =>
  Effect.gen(function*() {
    for (let left = count; left > 0; left -= batch) yield* Effect.scoped(checkBatch(Math.min(left, batch), peersOf))
  })

const checkBatch = Effect.fnUntraced(function*(
  count: number,
  peersOf: (memory: Store) => Effect.Effect<ReadonlyArray<Peer>, unknown, Scope.Scope>
) {
  const memory = yield* built(EmbeddedStore.layerMemory)
  const peers = yield* peersOf(memory)
  const differs = (scenario: Scenario) => differenceOf(memory, peers, scenario)
  const result = yield* Arbitrary.checkEffect(
    generated,
    (scenario) => Effect.map(differs(scenario), (difference) => difference === undefined),
    { runs: count, maxShrinks: 0, seed }
  )
  if (result._tag !== "Falsified") return assert.strictEqual(result._tag, "Passed")
  const first = yield* differs(result.initialInput)
  if (first === undefined) return assert.fail(`A scenario failed once only. Replay: ${result.replay}`)
  const fails = (scenario: Scenario) =>
    Effect.map(differs(scenario), (found) => found !== undefined && kindOf(found) === kindOf(first))
  const found = yield* Effect.flatMap(smallest(first.scenario, fails), differs)
  return assert.fail(`${reportOf(found ?? first)}\nReplay: ${result.replay}`)
})

describe("generated scenarios", () => {
  it.effect(
    "are answered alike in memory and in a folder, with indexes and without",
    () =>
      check(runs, (memory) =>
        Effect.map(built(freshFolder(EmbeddedStore.layerWith)), (folder): ReadonlyArray<Peer> => [
          { name: "folder", store: folder },
          { name: "memory without indexes", store: memory, adapt: withoutIndexes }
        ])),
    timeout
  )
})

onMongo("generated scenarios / mongodb", (layer, server) => {
  it.effect(
    "are answered as MongoDB does",
    () =>
      check(serverRuns, () =>
        Effect.map(built(layer), (store): ReadonlyArray<Peer> => [
          {
            name: server.name,
            store,
            adapt: differencesOf(server)("partialIndexes") ? withoutIndexes : undefined,
            answersOtherwise: answersOtherwise(server)
          }
        ])),
    timeout
  )
})
