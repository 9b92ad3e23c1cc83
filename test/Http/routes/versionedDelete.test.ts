import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { deleteVersion } from "../../../src/Http/routes/versionedDelete.ts"
import { type DocumentStore, EmbeddedStore, Model, Repository } from "../../../src/index.ts"
import { newUser, User } from "../../support/models.ts"
import { onMongo } from "../../support/mongo.ts"

const contract = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  it.layer(Repository.layer(User).pipe(Layer.provide(store)))(`a removal of one version / ${name}`, (it) => {
    it.effect("removes that one and no other", () =>
      Effect.gen(function*() {
        const users = yield* Repository.for(User)
        yield* users.insert(yield* Model.finalise(User, newUser({ id: "U1" })))
        yield* users.patch("U1", { name: "Joan" })
        const target = { id: "U1", versionField: "version" }
        const conflict = yield* Effect.flip(deleteVersion(users, { ...target, expected: 1 }))
        assert.deepInclude(conflict, { _tag: "VersionConflict", id: "U1", expected: 1 })
        assert.strictEqual(yield* users.count(), 1)
        yield* deleteVersion(users, { ...target, expected: 2 })
        assert.strictEqual(yield* users.count(), 0)
        const missing = yield* Effect.flip(deleteVersion(users, { ...target, expected: 2 }))
        assert.propertyVal(missing, "_tag", "DocumentNotFound")
      }))

    it.effect("happens once, however many ask for it", () =>
      Effect.gen(function*() {
        const users = yield* Repository.for(User)
        yield* users.insert(yield* Model.finalise(User, newUser({ id: "U2" })))
        const outcomes = yield* Effect.forEach(
          [1, 2, 3, 4],
          () => Effect.result(deleteVersion(users, { id: "U2", versionField: "version", expected: 1 })),
          { concurrency: 4 }
        )
        assert.strictEqual(outcomes.filter(({ _tag }) => _tag === "Success").length, 1)
      }))
  })

contract("memory", EmbeddedStore.layerMemory)
onMongo("on a server", (layer) => contract("mongodb", layer))
