import { Model, Repository, Validator } from "appkernel"
import { Config, Console, Effect, Layer, Option, Redacted, Schema } from "effect"
import { randomBytes } from "node:crypto"
import { User } from "./models/User.ts"

export const email = "admin@shop.example"

const configuredPassword = Config.option(
  Config.schema(Schema.Redacted(Schema.String.pipe(Validator.min(8))), "SHOP_ADMIN_PASSWORD")
)

/** Makes the administrator at the first start. A password that is not configured is made, and shown once. */
export const administrator = Layer.effectDiscard(Effect.gen(function*() {
  const configured = yield* configuredPassword
  const users = yield* Repository.for(User)
  if (yield* users.exists(($) => $.email.equals(email))) return
  const password = Option.match(configured, {
    onNone: () => randomBytes(12).toString("base64url"),
    onSome: Redacted.value
  })
  yield* users.insert(yield* Model.finalise(User, { name: "Administrator", email, password, roles: ["admin"] }))
  // Not logged: a log is kept.
  if (Option.isNone(configured)) {
    yield* Console.log(`The administrator is ${email}, with the password ${password}. It is shown only this once.`)
  }
})).pipe(Layer.provide(Repository.layer(User)))
