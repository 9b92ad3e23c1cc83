import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import { logFindings } from "../../../src/Http/startup/announcement.ts"
import { DocumentStore, EmbeddedStore, Model } from "../../../src/index.ts"

class Person extends Model.Class<Person>()("Person", { id: Model.id(), fullName: Schema.String, age: Schema.Int }, {
  versions: [Model.was.renamed("name", "fullName")]
}) {}

class Plain extends Model.Class<Plain>()("Plain", { id: Model.id(), n: Schema.Int }) {}

describe("the findings of a start", () => {
  it.effect("are a line for each, without a value", () =>
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      yield* store.insertMany("Person", [
        { _id: "P1", name: "a", age: 1 },
        { _id: "P2", name: "b", age: "secret" },
        { _id: "P3", _form: 2, fullName: "c", age: 3 }
      ])
      yield* store.insertMany("Plain", [{ _id: "A", n: 1 }])
      const lines: Array<unknown> = []
      const logger = Logger.make(({ message }) => lines.push(...[message].flat()))
      yield* Effect.provide(logFindings([Person, Plain, Person]), Logger.layer([logger]))
      assert.deepStrictEqual(lines, [
        "1 of the first 3 documents of Person can't be read, such as P2 (age): see npx appkernel check",
        "2 of the first 3 documents of Person are stored in an earlier form: npx appkernel upgrade brings them to form 2"
      ])
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))
})
