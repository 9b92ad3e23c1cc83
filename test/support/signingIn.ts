/** People who sign in with a name and a password, in a service with its documents in memory. */
import { Layer, Schema } from "effect"
import { Accounts, Converter, EmbeddedStore, Index, Jwt, Model } from "../../src/index.ts"

export class User extends Model.Class<User>()("User", {
  id: Model.id({ prefix: "U" }),
  email: Schema.String.pipe(Model.indexed(Index.unique)),
  password: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds: 1_000 })), Model.omitted),
  roles: Schema.Array(Schema.String)
}) {}

export const signingIn = Layer.mergeAll(
  EmbeddedStore.layerMemory,
  Jwt.layer,
  Accounts.fromModel(User, { login: "email", secret: "password" })
)
