/**
 * A service that users sign in to. `CFG_DIR` in the environment is the folder of its configuration, and `DEVELOPMENT` its
 * option `development`.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Layer, Schema } from "effect"
import { Accounts, Converter, EmbeddedStore, Index, Jwt, KernelEngine, Model, Tokens } from "../../src/index.ts"

class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  email: Schema.String.pipe(Model.indexed(Index.unique)),
  password: Schema.String.pipe(Model.converted(Converter.contentHasher()), Model.omitted),
  roles: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["user"]))
}) {}

const { CFG_DIR, DEVELOPMENT } = process.env

const engine = KernelEngine.make("shop", {
  cfgDir: CFG_DIR,
  development: DEVELOPMENT === undefined ? undefined : DEVELOPMENT === "true"
})
  .register(User, { methods: ["GET", "POST"], urlBase: "/api/v1" })
  .register(Tokens.service, { urlBase: "/api/v1" })

engine.layer.pipe(
  Layer.provide([EmbeddedStore.layer, Jwt.layer, Accounts.fromModel(User, { login: "email", secret: "password" })]),
  engine.launch,
  NodeRuntime.runMain
)
