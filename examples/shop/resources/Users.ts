import { Anonymous, Converter, CurrentSubject, Repository, Resource, Role } from "appkernel"
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
  // Who signs up is a user. Under a rule for documents nobody chooses an identifier, such as that of a user who has left.
  .grant(Anonymous, {
    methods: "POST",
    check: () => ($) => $.roles.equals(["user"]),
    readOnly: ["roles"]
  })
  .grant(CurrentSubject, {
    methods: ["GET", "PUT", "PATCH", "DELETE", "change_password"],
    readOnly: ["roles"]
  })
  .require(Role("admin"))
