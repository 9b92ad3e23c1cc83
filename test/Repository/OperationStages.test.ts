import { storeOperations } from "@appkernel/document-store/shared"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { DocumentStore, EmbeddedStore, Model } from "../../src/index.ts"
import { folded, type Stage } from "../../src/internal/stages.ts"
import { AccessDecision } from "../../src/Repository/collection/accessDecision.ts"
import { authorized, callerStages } from "../../src/Repository/collection/authorizedCollection.ts"
import { collectionStages, makeModelCollection } from "../../src/Repository/collection/collectionStages.ts"
import type { CollectionOperation, Name } from "../../src/Repository/collection/modelCollection.ts"
import { storeRunner } from "../../src/Repository/collection/storedCollection.ts"
import { operationStages } from "../../src/Repository/OperationStages.ts"
import { writerStages } from "../../src/Repository/repository/modelOperations.ts"
import { QueryTimeout } from "../../src/Repository/RepositoryError.ts"
import { viewedStore } from "../../src/Repository/versions/earlierVersionStore.ts"
import { argumentsOf, names, recordedStore, runOperation } from "../support/recordedStore.ts"

describe("The stages of an operation", () => {
  it("have names of their own, and stand before those that need them first", () => {
    const names = operationStages.map(({ name }) => name)
    assert.strictEqual(new Set(names).size, names.length)
    const needed = operationStages.flatMap(({ before = {}, name }, i) =>
      Object.keys(before).map((other) => [name, other, names.indexOf(other) > i] as const)
    )
    assert.isAbove(needed.length, 0)
    assert.deepStrictEqual(needed.filter(([, , isBefore]) => !isBefore), [])
  })

  it("are folded in the order of the list", () => {
    const own = [...writerStages, ...callerStages, ...collectionStages].map(({ name }) => name)
    const isFolded = new Set(own)
    assert.lengthOf(own, 10)
    assert.deepStrictEqual(operationStages.map(({ name }) => name).filter((name) => isFolded.has(name)), own)
  })

  it("wrap one another in the order of the list, and those that are off are not there", () => {
    const met: Array<string> = []
    const stage = (name: string, isOn: boolean): Stage<object, () => void> => ({
      name,
      does: name,
      when: "always",
      wrap: () => isOn ? (inner) => () => (met.push(name), inner()) : undefined
    })
    folded([stage("one", true), stage("off", false), stage("two", true)], {}, () => met.push("inner"))()
    assert.deepStrictEqual(met, ["one", "two", "inner"])
  })

  it.effect("are on for the models that need them", () =>
    Effect.gen(function*() {
      class Plain extends Model.Class<Plain>()("Plain", { id: Model.id() }) {}
      class Special extends Model.Class<Special>()("Special", {
        id: Model.id(),
        region: Schema.String,
        ...Model.softDeleted
      }, { shardKey: { region: "hashed" } }) {}
      const store = yield* DocumentStore.DocumentStore
      const onFor = (model: Model.Any) =>
        collectionStages.filter(({ wrap }) =>
          wrap({
            model,
            options: undefined,
            versions: undefined,
            stored: storeRunner(model, store, (filter) => filter)
          })
        ).map(({ name }) => name)
      assert.deepStrictEqual(onFor(Plain), ["options of the repository"])
      assert.deepStrictEqual(onFor(Special), ["deleted documents", "options of the repository", "shard key"])
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  /** The store's operations that an operation of a collection becomes, and their arguments; the one of the same name first. */
  const namesOfCollections = names.filter((name): name is Name =>
    name !== "findOneAndReplace" && !storeOperations[name].streams
  )
  const rows = { rows: () => ({ kept: true }), check: () => undefined }
  const decisions: ReadonlyArray<readonly [string, AccessDecision | undefined]> = [
    ["without access control", undefined],
    ["within the rows of a caller", {
      endpoint: undefined,
      addressed: undefined,
      of: () => Effect.succeed({ rows } as never),
      linksAt: () => Effect.die("unused"),
      origin: {},
      grants: () => []
    }]
  ]

  it.effect.each(decisions)("lead each operation to the store's one %s", ([, decision]) =>
    Effect.gen(function*() {
      const { calls, store } = recordedStore(yield* DocumentStore.DocumentStore)
      const collection = authorized(Thing, makeModelCollection(Thing, store, (filter) => filter), store)
      for (const name of namesOfCollections) {
        yield* store.deleteMany("Thing", {})
        calls.splice(0)
        // The table says what the operation takes.
        const operation = { name, ...argumentsOf(name) } as unknown as CollectionOperation<Name>
        yield* Effect.provideService(collection.run(operation), AccessDecision, decision)
        const [call] = calls.splice(0)
        const isLimited = decision !== undefined && storeOperations[name].privilege !== "insert"
        assert.strictEqual(call?.name, isLimited && name === "estimatedCount" ? "count" : name)
        assert.strictEqual(JSON.stringify(call?.args).includes(`"kept":true`), isLimited, name)
      }
      for (const name of ["stream", "aggregate"] as const) {
        const operation = name === "stream" ? { name, options: {} } : { name, pipeline: [] }
        yield* Effect.provideService(Stream.runDrain(collection.runStream(operation)), AccessDecision, decision)
        const [call] = calls.splice(0)
        assert.strictEqual(call?.name, name)
        assert.strictEqual(JSON.stringify(call?.args).includes(`"kept":true`), decision !== undefined, name)
      }
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  it.effect("record a stream as read once it is decided which documents it has, and not before", () =>
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      const collection = authorized(Thing, makeModelCollection(Thing, store, (filter) => filter), store)
      const undecided = new QueryTimeout({ operation: "rule" })
      for (const failure of [undefined, undecided]) {
        const read: Array<unknown> = []
        const decision = {
          addressed: undefined,
          of: () => failure === undefined ? Effect.succeed({ rows }) : Effect.fail(failure),
          trail: { hasReads: true, read: (touched: unknown) => read.push(touched) }
        } as unknown as AccessDecision // a stream asks for nothing else
        const ended = yield* Stream.runDrain(collection.runStream({ name: "stream", options: {} })).pipe(
          Effect.provideService(AccessDecision, decision),
          Effect.result
        )
        assert.strictEqual(ended._tag, failure === undefined ? "Success" : "Failure")
        assert.lengthOf(read, failure === undefined ? 1 : 0)
      }
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  it.effect("lead each operation on an earlier version to the one on the newest", () =>
    Effect.gen(function*() {
      const { calls, store } = recordedStore(yield* DocumentStore.DocumentStore)
      const viewed = viewedStore(store, makeModelCollection(Thing, store, (filter) => filter))
      for (const name of names) {
        yield* store.deleteMany("Thing", {})
        calls.splice(0)
        const result = yield* Effect.result(runOperation(viewed, name))
        assert.strictEqual(result._tag, name === "findOneAndReplace" ? "Failure" : "Success", name)
        assert.deepStrictEqual(calls.splice(0).map((call) => call.name), name === "findOneAndReplace" ? [] : [name])
      }
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))
})

class Thing extends Model.Class<Thing>()("Thing", { id: Model.id() }) {}
