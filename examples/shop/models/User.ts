import { Converter, Generator, Index, Model, Validator } from "appkernel"
import { Schema } from "effect"

export class Address extends Model.Class<Address>()("Address", {
  street: Schema.String.pipe(Validator.notEmpty),
  postcode: Schema.String.pipe(Validator.notEmpty),
  city: Schema.String.pipe(Validator.notEmpty),
  country: Schema.String.pipe(Validator.regexp(/^[A-Z]{2}$/u))
}) {}

export class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U", brand: "UserId" }),
  name: Schema.String.pipe(Validator.notEmpty, Validator.max(120)),
  email: Schema.String.pipe(Validator.email, Model.converted(Converter.lowerCase), Model.indexed(Index.unique)),
  password: Schema.String.pipe(Validator.min(8), Model.converted(Converter.contentHasher()), Model.omitted),
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["user"])),
  address: Address.pipe(Model.optional),
  created: Model.DateTime.pipe(Validator.past, Model.generated(Generator.dateNow)),
  ...Model.versioned
}) {}
