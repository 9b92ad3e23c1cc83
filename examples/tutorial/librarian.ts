import { Model, Repository } from "appkernel"
import { Config, Effect, Layer, Option, Redacted } from "effect"
import { Member } from "./Member.ts"

/** Makes the first librarian, if a password is configured and there is none yet. */
export const librarian = Layer.effectDiscard(Effect.gen(function*() {
  const configured = yield* Config.option(Config.Redacted("LIBRARY_LIBRARIAN_PASSWORD"))
  if (Option.isNone(configured)) return
  const members = yield* Repository.for(Member)
  const email = "librarian@library.example"
  if (yield* members.exists(($) => $.email.equals(email))) return
  const [password, roles] = [Redacted.value(configured.value), ["member", "librarian"]]
  yield* members.insert(yield* Model.finalise(Member, { name: "Librarian", email, password, roles }))
})).pipe(Layer.provide(Repository.layer(Member)))
