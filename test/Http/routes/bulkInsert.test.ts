import { assert, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { insertAll, readItems } from "../../../src/Http/routes/bulkInsert.ts"
import { DocumentStore, Model, Repository, Validator } from "../../../src/index.ts"
import { bodyDecoder } from "../../../src/Model/codec/explainer.ts"
import { completer } from "../../../src/Model/instance/insertCompleter.ts"
import { recordEncoder } from "../../../src/Model/instance/recordCodec.ts"
import { documentOperationsOf } from "../../../src/Repository/internal.ts"
import { newUser, User } from "../../support/models.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"

const options = {
  decode: bodyDecoder(User.create),
  problemOf: ({ id }: { readonly id?: unknown }) =>
    id === "schema" ? { field: "id", validator: "Url", message: "can't be part of a URL" } : undefined,
  costlyIn: () => 0,
  maxItems: 5
}

const problemsOf = (body: ReadonlyArray<unknown>) => {
  const read = readItems(body, options)
  return read._tag === "Failure" ? read.failure.map(({ field, message }) => `${field} ${message}`) : []
}

/** A model with a rule that is only asked when an instance is completed. */
class Span extends Model.Class<Span>()("Span", { id: Model.id(), from: Schema.Int, to: Schema.Int }, {
  validators: [Validator.related("Order", "to", ({ from, to }) => from <= to, { message: "must not be before from" })]
}) {}

const parts = <M extends Model.Any>(model: M) =>
  Effect.gen(function*() {
    const { transaction } = yield* DocumentStore.DocumentStore
    const repository = yield* Repository.for(model)
    return {
      complete: completer(model),
      toDocument: recordEncoder(model, "_id"),
      idOf: ({ _id }: { readonly _id?: unknown }) => String(_id),
      insertMany: documentOperationsOf(repository).insertMany,
      transaction
    }
  })

const insert = Effect.fnUntraced(function*(body: ReadonlyArray<unknown>) {
  const read = readItems(body, options)
  assert.strictEqual(read._tag, "Success")
  return yield* insertAll(read._tag === "Success" ? read.success : [], yield* parts(User))
})

it("every item of a list is validated, and problems have its index", () => {
  assert.deepStrictEqual(
    problemsOf([
      newUser(),
      { ...newUser(), email: "nobody", roles: ["a", 1] },
      "text",
      null,
      { ...newUser(), id: "schema", address: { street: "x" } }
    ]),
    [
      "1.email must be an e-mail address",
      "1.roles.1 must be a text",
      "2 must be an object",
      "3 must be an object",
      "4.address.city must be given"
    ]
  )
  assert.deepStrictEqual(problemsOf([newUser(), newUser({ id: "schema" })]), ["1.id can't be part of a URL"])
  assert.deepStrictEqual(problemsOf([]), [" must not be empty"])
  assert.deepStrictEqual(problemsOf(Array.from({ length: 6 }, () => newUser())), [" must have at most 5 elements"])
})

const bulkContract = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  it.layer(Layer.mergeAll(Repository.layer(User), Repository.layer(Span)).pipe(Layer.provideMerge(store)))(
    `a bulk insertion / ${name}`,
    (it) => {
      it.effect("inserts all of them, and returns their identifiers in order", () =>
        Effect.gen(function*() {
          const ids = yield* insert([
            newUser({ email: "a@example.com", id: "UA" }),
            newUser({ email: "b@example.com", address: { street: "Main", city: "Bern" } }),
            newUser({ email: "c@example.com", id: "UC" })
          ])
          const [first, second, third] = ids.map(String)
          assert.deepStrictEqual([first, third, ids.length], ["UA", "UC", 3])
          const users = yield* Repository.for(User)
          const user = yield* users.findById(second ?? "")
          assert.deepStrictEqual([user.email, user.version, user.roles, user.address?.city], [
            "b@example.com",
            1,
            ["user"],
            "Bern"
          ])
          assert.match(user.password, /^\$pbkdf2-sha256\$/u)
          yield* users.deleteAll
        }))

      it.effect("inserts none if a unique value is taken, and names the item", () =>
        Effect.gen(function*() {
          const users = yield* Repository.for(User)
          yield* insert([newUser({ email: "taken@example.com", id: "U1" })])
          const email = yield* Effect.flip(insert([
            newUser({ email: "d@example.com" }),
            newUser({ email: "taken@example.com" }),
            newUser({ email: "e@example.com" })
          ]))
          assert.deepStrictEqual([email._tag, email.message], [
            "Conflict",
            "Item 2: There is another User with the same email"
          ])
          const id = yield* Effect.flip(insert([
            newUser({ email: "f@example.com" }),
            newUser({ email: "g@example.com" }),
            newUser({ email: "h@example.com", id: "U1" })
          ]))
          assert.propertyVal(id, "_tag", "Conflict")
          assert.match(id.message, /^Item 3: /u)
          const each = yield* Effect.flip(insert([
            newUser({ email: "i@example.com" }),
            newUser({ email: "i@example.com" })
          ]))
          assert.match(each.message, /^Item 2: /u)
          assert.strictEqual(yield* users.count(), 1)
          yield* users.deleteAll
        }))

      it.effect("inserts none when one of them can't be completed", () =>
        Effect.gen(function*() {
          const items = [{ from: 1, to: 2 }, { from: 2, to: 1 }, { from: 3, to: 3 }, { from: 1, to: 0 }]
          const error = yield* Effect.flip(insertAll(items, yield* parts(Span)))
          assert.deepStrictEqual(
            error._tag === "BadRequest" ? error.errors.map(({ field, message }) => `${field} ${message}`) : error,
            ["1.to must not be before from", "3.to must not be before from"]
          )
          const spans = yield* Repository.for(Span)
          assert.strictEqual(yield* spans.count(), 0)
        }))
    }
  )

storeMatrix(bulkContract)
