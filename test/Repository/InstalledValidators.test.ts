/** The validator that a repository installs in its store: the patterns of the model, as the store reads them. */
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Schema } from "effect"
import { DocumentStore, Model, Repository, Validator } from "../../src/index.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

class Contact extends Model.Class<Contact>()("Contact", {
  id: Model.id(),
  code: Schema.String.pipe(Validator.regexp(/^[a-z]+$/u), Model.optional),
  mail: Schema.String.pipe(Validator.email, Model.optional),
  version: Schema.TemplateLiteral(["v", Schema.Int]).pipe(Model.optional)
}) {}

storeMatrix((name, store) =>
  it.layer(store)(`installed validators / ${name}`, (it) => {
    it.effect("refuse what no pattern of the model matches, and accept what does", () =>
      Effect.gen(function*() {
        const contacts = yield* Repository.make(Contact)
        yield* contacts.insert(new Contact({ code: "a" }))
        yield* contacts.installValidator()
        const { insertOne } = yield* DocumentStore.DocumentStore
        const accepted = [{ code: "abc" }, { mail: "jane@example.org" }, { version: "v12" }]
        const refused = [{ code: "ABC" }, { code: "abc\n" }, { mail: "jane" }, { mail: "jane@example.org\n" }, {
          version: "12"
        }]
        for (const fields of accepted) yield* insertOne("Contact", { _id: JSON.stringify(fields), ...fields })
        for (const fields of refused) {
          const written = yield* Effect.exit(insertOne("Contact", { _id: JSON.stringify(fields), ...fields }))
          assert.isTrue(Exit.isFailure(written), JSON.stringify(fields))
        }
      }))
  })
)
