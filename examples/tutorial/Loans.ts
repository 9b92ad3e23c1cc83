import { Authenticated, Repository, Resource, Role } from "appkernel"
import { DateTime, Effect } from "effect"
import { AlreadyReturned, LoansApi } from "./api.ts"
import { Book } from "./Book.ts"
import { Loan } from "./Loan.ts"

export const Loans = Resource.implement(LoansApi, {
  give_back: (loan) =>
    Repository.transaction(Effect.gen(function*() {
      if (loan.returned !== undefined) return yield* new AlreadyReturned()
      const books = yield* Repository.unrestricted(Book)
      const loans = yield* Repository.for(Loan)
      yield* books.updateOne(($) => $.id.equals(loan.book), ($) => [$.on_shelf.increment(1)])
      return yield* loans.patch(loan.id, { returned: yield* DateTime.now, version: loan.version })
    }))
})
  .grant(Authenticated, { methods: ["GET", "give_back"], rows: (me) => ($) => $.member.equals(me.subject) })
  .require(Role("librarian"))
