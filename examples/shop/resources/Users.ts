import { Converter, Repository, Resource } from "appkernel"
import { Effect, Redacted } from "effect"
import { UsersApi, WrongPassword } from "../descriptions/Users.ts"
import { User } from "../models/User.ts"

export const Users = Resource.implement(UsersApi, {
  change_password: Effect.fnUntraced(function*(user, { payload: { current_password, new_password } }) {
    const right = yield* Converter.verifyContent(Redacted.value(current_password), user.password)
    if (!right) return yield* new WrongPassword()
    const users = yield* Repository.for(User)
    yield* users.patch(user.id, { password: Redacted.value(new_password), version: user.version })
    return "Password changed"
  })
})
