import { Converter, Index, Model, Validator } from "appkernel"
import { Schema } from "effect"

export class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  email: Schema.String.pipe(Model.converted(Converter.lowerCase), Validator.email, Model.indexed(Index.unique)),
  // Its hash is stored, and nobody reads it.
  password: Schema.String.pipe(Validator.min(8), Model.converted(Converter.contentHasher()), Model.omitted),
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["user"]))
}) {}
