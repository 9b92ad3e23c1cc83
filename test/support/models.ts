/** The models for the suites of repositories and of the REST interface. */
import { Schema } from "effect"
import { Converter, Generator, Index, Model, Validator } from "../../src/index.ts"

export class Address extends Model.Class<Address>()("Address", {
  street: Schema.String,
  city: Schema.String.pipe(Validator.notEmpty, Model.indexed(Index.plain))
}) {}

export class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Schema.String.pipe(Validator.notEmpty),
  email: Schema.String.pipe(Validator.email, Model.indexed(Index.unique)),
  password: Schema.String.pipe(
    Validator.min(8),
    Model.converted(Converter.contentHasher({ rounds: 1_000 })),
    Model.omitted
  ),
  age: Schema.Int.pipe(Validator.min(0), Model.optional),
  active: Schema.Boolean.pipe(Model.withDefault(() => true)),
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["user"])),
  address: Address.pipe(Model.optional),
  previous: Schema.Array(Address).pipe(Model.withDefault(() => [])),
  born: Model.Date.pipe(Model.optional),
  created: Model.DateTime.pipe(Validator.past, Model.generated(Generator.dateNow)),
  ...Model.versioned
}) {}

/** A user where signing in is all that is asked of them. */
export class Account extends Model.Class<Account>()("User", {
  id: Model.id({ prefix: "U" }),
  email: Schema.String.pipe(Model.indexed(Index.unique)),
  password: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds: 1_000 })), Model.omitted)
}) {}

export class Note extends Model.Class<Note>()("Note", {
  id: Model.id({ prefix: "N" }),
  text: Schema.String.pipe(Validator.notEmpty),
  rank: Schema.Finite.pipe(Model.optional)
}) {}

export class Badge extends Model.Class<Badge>()("Badge", {
  id: Model.id({ prefix: "B" }),
  code: Schema.String.pipe(Model.indexed(Index.unique), Model.optional),
  labels: Schema.Record(Schema.String, Schema.String).pipe(Model.optional),
  place: Address.pipe(Model.optional)
}) {}

export class Reminder extends Model.Class<Reminder>()("Reminder", {
  id: Model.id({ prefix: "R" }),
  at: Model.DateTime.pipe(Validator.future),
  done: Schema.NullOr(Schema.Boolean)
}) {}

/** A valid body for a new user, overridden by `more`. */
export const newUser = (more: Partial<typeof User.create.Type> = {}): typeof User.create.Type => ({
  name: "Jane Doe",
  email: "jane@example.com",
  password: "correct horse",
  ...more
})
