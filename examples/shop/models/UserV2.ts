import { Converter, Model, Validator } from "appkernel"
import { Schema } from "effect"

/** A user as version 2 of the interface shows them: `full_name` in the place of `name`. It is stored as a `User`. */
export class UserV2 extends Model.Class<UserV2>()("UserV2", {
  id: Model.id({ prefix: "U", brand: "UserId" }),
  full_name: Schema.String.pipe(Validator.notEmpty, Validator.max(120)),
  email: Schema.String.pipe(Validator.email, Model.converted(Converter.lowerCase)),
  password: Schema.String.pipe(Validator.min(8), Model.converted(Converter.contentHasher()), Model.omitted),
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["user"]))
}) {}
