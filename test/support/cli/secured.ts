/** A service whose callers prove who they are by every scheme, or by keys only. Run as a program, it serves them. */
import { NodeRuntime } from "@effect/platform-node"
import {
  Accounts,
  Anonymous,
  ApiKeys,
  Authentication,
  Converter,
  EmbeddedStore,
  Index,
  Jwt,
  KernelEngine,
  Model,
  Resource,
  SecurityError,
  Tokens
} from "appkernel"
import { Effect, Layer, Schema } from "effect"
import process from "node:process"

class Member extends Model.Class<Member>()("Member", {
  id: Model.id(),
  email: Schema.String.pipe(Model.indexed(Index.unique)),
  password: Schema.String.pipe(Model.converted(Converter.contentHasher()), Model.omitted),
  roles: Schema.Array(Schema.String)
}) {}

const gateway = Authentication.layer(
  Authentication.make({
    id: "gateway",
    header: "x-gateway-user",
    challenge: { scheme: "Gateway" },
    verify: () => Effect.fail(new SecurityError.CredentialsInvalid({ reason: "secret" }))
  })
)

const accounts = Accounts.fromModel(Member, { login: "email", secret: "password" })

const every = Layer.mergeAll(Jwt.layer, accounts, ApiKeys.layer, gateway)

const keysOnly = KernelEngine.make("members")
  .register(Resource.make(Member, { methods: ["GET"] }).grant(Anonymous, { methods: "GET" }), { urlBase: "/api/v1" })
  .enableSecurity()
  .enableOpenApi({ title: "Members", version: "1.0.0" })

const withTokens = keysOnly.register(Tokens.service, { urlBase: "/api/v1" })

const { SCHEMES: schemes } = process.env

export const credentials = schemes === "every" ? every : schemes === "keys" ? ApiKeys.layer : undefined

export const engine = schemes === "every" ? withTokens : keysOnly

if (process.argv[1] === import.meta.filename) {
  const store = Layer.provide(EmbeddedStore.layerMemory)
  if (schemes === "every") withTokens.layer.pipe(Layer.provide(every), store, withTokens.launch, NodeRuntime.runMain)
  else keysOnly.layer.pipe(Layer.provide(ApiKeys.layer), store, keysOnly.launch, NodeRuntime.runMain)
}
