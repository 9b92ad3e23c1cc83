/** A service with two registered models, and what a caller writes with its typed client. */
import { KernelClient, KernelEngine, Model, Validator } from "appkernel"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  name: Schema.String.pipe(Validator.notEmpty),
  email: Schema.String.pipe(Validator.email),
  password: Schema.String.pipe(Validator.min(8), Model.omitted),
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["user"])),
  ...Model.versioned
}) {}

class Product extends Model.Class<Product>()("Product", {
  id: Model.id({ prefix: "P" }),
  code: Schema.String.pipe(Validator.notEmpty),
  price: Schema.Finite.pipe(Validator.min(0)),
  added: Model.DateTime
}) {}

const engine = KernelEngine.make("shop")
  .register(User, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"], urlBase: "/api/v1" })
  .register(Product, { methods: ["GET", "POST"], urlBase: "/api/v1" })

export const program = Effect.gen(function*() {
  const client = yield* KernelClient.make(engine, { baseUrl: "http://127.0.0.1:5000" })
  const { result } = yield* client.users.create({ payload: { name: "Jane", email: "j@example.com", password: "x" } })
  const user = yield* client.users.get({ params: { id: result } })
  const page = yield* client.products.list({ query: { page: 1, code: "A1" } })
  yield* client.users.patch({ params: { id: result }, payload: { name: "Joan" } })
  return { roles: user.roles, prices: page._items.map(({ price }) => price) }
}).pipe(Effect.catchTag("NotFound", ({ message }) => Effect.succeed(message)))
