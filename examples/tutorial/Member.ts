import { Converter, Generator, Index, Model, Validator } from "appkernel"
import { Schema } from "effect"

export class Member extends Model.Class<Member>()("Member", {
  id: Model.id({ prefix: "M" }),
  name: Schema.String.pipe(Validator.notEmpty),
  email: Schema.String.pipe(Model.converted(Converter.lowerCase), Validator.email, Model.indexed(Index.unique)),
  password: Schema.String.pipe(Validator.min(8), Model.converted(Converter.contentHasher()), Model.omitted),
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["member"])),
  joined: Model.DateTime.pipe(Model.generated(Generator.dateNow), Model.readOnly)
}) {}
