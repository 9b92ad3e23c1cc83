import { Converter, Repository, Resource, ServiceError, Validator } from "appkernel"
import { Effect, Redacted, Schema } from "effect"
import { User } from "../models/User.ts"

export class WrongPassword extends ServiceError<WrongPassword>()("WrongPassword", {
  status: 403,
  message: "The current password is wrong"
}) {}

/** Never in a log: only whoever asks for the value of a redacted text gets it. */
const Password = Schema.Redacted(Schema.String.pipe(Validator.min(8)))

export const Users = Resource.make(User, { methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] })
  .action("change_password", {
    summary: "Change the password",
    payload: { current_password: Schema.Redacted(Schema.String), new_password: Password },
    success: Schema.String,
    error: WrongPassword
  }, (user, { payload: { current_password, new_password } }) =>
    Effect.gen(function*() {
      const right = yield* Converter.verifyContent(Redacted.value(current_password), user.password)
      if (!right) return yield* new WrongPassword()
      const users = yield* Repository.for(User)
      yield* users.patch(user.id, { password: Redacted.value(new_password), version: user.version })
      return "Password changed"
    }))
