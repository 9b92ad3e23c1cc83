/** What callers know of users: a browser can load it, since it has no handlers. */
import { Resource, ServiceError, Validator } from "appkernel"
import { Schema } from "effect"
import { User } from "../models/User.ts"

export class WrongPassword extends ServiceError<WrongPassword>()("WrongPassword", {
  status: 403,
  message: "The current password is wrong"
}) {}

/** Never in a log: only whoever asks for the value of a redacted text gets it. */
const Password = Schema.Redacted(Schema.String.pipe(Validator.min(8)))

export const UsersApi = Resource.describe(User, {
  methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
  anonymous: ["POST"]
})
  .action("change_password", {
    summary: "Change the password",
    payload: { current_password: Schema.Redacted(Schema.String), new_password: Password },
    success: Schema.String,
    error: WrongPassword
  })
