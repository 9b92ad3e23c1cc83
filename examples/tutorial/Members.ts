import { Accounts, Anonymous, CurrentSubject, Repository, Resource, Role } from "appkernel"
import { Effect } from "effect"
import { BooksOut, MembersApi } from "./api.ts"
import { Loan } from "./Loan.ts"
import { Member } from "./Member.ts"

export const Members = Resource.implement(MembersApi)
  .beforeDelete((member) =>
    Effect.gen(function*() {
      const loans = yield* Repository.for(Loan)
      const count = yield* loans.count(($) => $.member.equals(member.id).and($.returned.isMissing()))
      if (count > 0) return yield* new BooksOut({ count })
    })
  )
  // Who signs up is a member, and nothing else.
  .grant(Anonymous, { methods: "POST", check: () => ($) => $.roles.equals(["member"]), readOnly: ["roles"] })
  .grant(CurrentSubject, { methods: ["GET", "PATCH", "DELETE"], readOnly: ["roles"] })
  .require(Role("librarian"))

/** Members sign in with their address and their password. */
export const accounts = Accounts.fromModel(Member, { login: "email", secret: "password" })
