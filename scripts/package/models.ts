/** A program that uses models only. */
import { Converter, Generator, Index, Model, Validator } from "appkernel"
import { Effect, Schema } from "effect"

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Schema.String.pipe(Validator.notEmpty, Model.indexed(Index.unique)),
  password: Schema.String.pipe(Validator.min(8), Model.converted(Converter.contentHasher()), Model.omitted),
  created: Model.DateTime.pipe(Validator.past, Model.generated(Generator.dateNow))
}) {}

const { id, name } = await Effect.runPromise(Model.finalise(User, { name: "Ann", password: "correct horse" }))
if (name !== "Ann" || !id.startsWith("U")) throw new Error("The model does not work")
