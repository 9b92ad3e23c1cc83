/** Two models, and what their users write with the types that follow from them. */
import { Model, Validator } from "appkernel"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Schema.String.pipe(Validator.notEmpty),
  email: Schema.String.pipe(Validator.email),
  password: Schema.String.pipe(Validator.min(8), Model.omitted),
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["user"]))
}) {}

class Product extends Model.Class<Product>()("Product", {
  id: Model.id({ prefix: "P" }),
  code: Schema.String.pipe(Validator.notEmpty),
  price: Schema.Finite.pipe(Validator.min(0))
}) {}

export const program = Effect.gen(function*() {
  const user = yield* Model.finalise(User, { name: "Jane", email: "jane@example.com", password: "correct horse" })
  const product = yield* Model.finalise(Product, { code: "A1", price: 2 })
  return { roles: user.roles, price: product.price }
})

export const shown: ReadonlyArray<typeof User.wire.Type | typeof Product.wire.Type> = []
