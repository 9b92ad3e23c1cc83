/** Models with and without a version, for tests of writes. */
import { Schema } from "effect"
import { Converter, Index, KernelEngine, Model, Validator } from "../../src/index.ts"

class Address extends Model.Class<Address>()("Address", {
  city: Schema.String.pipe(Validator.notEmpty),
  zip: Schema.Int.pipe(Model.optional)
}) {}

/** Without a version. */
export class Person extends Model.Class<Person>()("Person", {
  id: Model.id({ prefix: "P" }),
  name: Schema.String.pipe(Validator.notEmpty),
  code: Schema.String.pipe(Model.indexed(Index.unique), Model.optional),
  password: Schema.String.pipe(
    Validator.min(4),
    Model.converted(Converter.contentHasher({ rounds: 1_000 })),
    Model.omitted,
    Model.optional
  ),
  from: Schema.Int.pipe(Model.withDefault(() => 0)),
  to: Schema.Int.pipe(Model.withDefault(() => 10)),
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => [])),
  born: Model.Date.pipe(Model.optional),
  address: Address.pipe(Model.optional)
}, {
  validators: [
    Validator.related("Order", "to", ({ from, to }) => from <= to, { message: "must not be before from" })
  ]
}) {}

class Account extends Model.Class<Account>()("Account", {
  id: Model.id({ prefix: "A" }),
  owner: Schema.String.pipe(Validator.notEmpty),
  balance: Schema.Int.pipe(Model.withDefault(() => 0)),
  ...Model.versioned
}) {}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

export const engine = KernelEngine.make("writes").register(Person, { methods }).register(Account, { methods })
