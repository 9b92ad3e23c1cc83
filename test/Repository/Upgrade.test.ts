import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Schema } from "effect"
import { DocumentStore, EmbeddedStore, Index, Model, Query, Repository } from "../../src/index.ts"
import { storeMatrix } from "../support/storeMatrix.ts"
import { versionsContract } from "./Upgrade.contract.ts"

storeMatrix(versionsContract)

class Letter extends Model.Class<Letter>()("Letter", {
  id: Model.id(),
  body: Schema.String.pipe(Model.indexed(Index.text())),
  place: Schema.String
}, {
  versions: [Model.was.renamed("text", "body")]
}) {}

interface TreeStored {
  readonly _type?: "Tree"
  readonly id: string
  readonly title: string
  readonly parts: ReadonlyArray<TreeStored>
}

class Tree extends Model.Class<Tree>()("Tree", {
  id: Model.id(),
  title: Schema.String,
  parts: Schema.Array(Schema.suspend((): Schema.Codec<Tree, TreeStored> => Tree))
}, { versions: [Model.was.renamed("name", "title")] }) {}

class Envelope extends Model.Class<Envelope>()("Envelope", { id: Model.id(), letter: Letter }) {}

describe("versions / what they refuse", () => {
  it.live("a text search of changed fields, with the command that ends it", () =>
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      yield* store.insertOne("Letter", { _id: "L", text: "warm words", place: "Rome" })
      const letters = yield* Repository.make(Letter)
      const search = () => Query.text("warm")
      const sentence =
        "changed fields can't be searched by $text while Letter is stored in earlier forms: run `appkernel upgrade"
      assert.include((yield* Effect.flip(letters.find(search))).message, sentence)
      assert.include((yield* Effect.flip(letters.count(search))).message, sentence)
      assert.lengthOf(yield* letters.find(($) => $.place.equals("Rome")), 1)
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))

  it.live("a model with versions in a field of another one", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(Repository.make(Envelope))
      assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "Envelope has Letter in a field")
      const nested = yield* Effect.exit(Repository.make(Tree))
      assert.include(Exit.isFailure(nested) ? Cause.pretty(nested.cause) : "", "Tree has Tree in a field")
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))
})
