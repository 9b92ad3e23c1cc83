import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import { Marshaller, Model, Validator } from "../../../src/Model/index.ts"

class Address extends Model.Class<Address>()("Address", {
  city: Schema.String,
  since: Model.Date
}) {}

class User extends Model.Class<User>()("User", {
  id: Model.id(),
  name: Schema.String.pipe(Validator.notEmpty),
  password: Schema.String.pipe(Model.omitted),
  seen: Model.DateTime.pipe(Model.optional),
  stamp: Model.DateTime.pipe(Model.marshalled(Marshaller.timestamp)),
  nothing: Schema.NullOr(Schema.String),
  address: Address.pipe(Model.optional),
  addresses: Schema.Array(Address).pipe(Model.withDefault(() => []))
}) {}

const address = new Address({ city: "Bern", since: DateTime.makeUnsafe("2020-01-01") })

const user = new User({
  id: "U1",
  name: "Jane",
  password: "secret",
  seen: DateTime.makeUnsafe("2026-01-31T09:30:00.123Z"),
  stamp: DateTime.makeUnsafe(1_500),
  nothing: null,
  address,
  addresses: [address]
})

const { password: _, ...visible } = user

const parsed = Effect.map(Model.dumps(user), (text): { readonly [key: string]: unknown } => JSON.parse(text))

describe("a wire document is decoded", () => {
  it.effect("to an instance without omitted fields", () =>
    Effect.gen(function*() {
      const links = { _links: { self: { href: "/users/U1" } } }
      const back = yield* Model.fromWire(User, { ...yield* parsed, ...links })
      assert.instanceOf(back, User)
      assert.instanceOf(back.addresses[0], Address)
      assert.deepStrictEqual({ ...back }, visible)
    }))

  it.effect("from a record that was dumped", () =>
    Effect.gen(function*() {
      const back = yield* Model.fromRecord(User, yield* parsed)
      assert.instanceOf(back, User)
      assert.deepStrictEqual({ ...back }, visible)
      const stored = yield* Model.toRecord(user)
      assert.deepStrictEqual(yield* Model.fromRecord(User, stored), user)
    }))

  it.effect("or fails with all its problems", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Model.fromWire(User, { ...yield* parsed, id: 3, stamp: "x", name: undefined }))
      assert.sameMembers(error.problems.map(({ field }) => field), ["id", "stamp", "name"])
      const other = yield* Effect.flip(Model.fromWire(User, { ...yield* parsed, _type: "Address" }))
      assert.deepStrictEqual(other.problems.map(({ field }) => field), ["_type"])
      assert.strictEqual((yield* Effect.flip(Model.fromWire(User, null))).problems.length, 1)
    }))
})
