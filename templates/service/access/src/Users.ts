import { Accounts, Anonymous, CurrentSubject, Resource } from "appkernel"
import { User } from "./models/User.ts"

export const Users = Resource.make(User, { methods: ["GET", "POST", "PATCH"] })
  // Everybody signs up, as a user.
  .grant(Anonymous, { methods: "POST", check: () => ($) => $.roles.equals(["user"]), readOnly: ["roles"] })
  // Users see and change themselves, except for their roles.
  .grant(CurrentSubject, { methods: ["GET", "PATCH"], readOnly: ["roles"] })

/** People sign in with their address and their password. */
export const accounts = Accounts.fromModel(User, { login: "email", secret: "password" })
