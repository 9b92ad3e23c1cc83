import { Anonymous, Authenticated, CurrentUser, Model, Repository, Resource, Role } from "appkernel"
import { Effect } from "effect"
import { BooksApi, NoCopyLeft } from "./api.ts"
import { Book } from "./Book.ts"
import { Loan } from "./Loan.ts"

export const Books = Resource.implement(BooksApi, {
  borrow: (book) =>
    Repository.transaction(Effect.gen(function*() {
      const books = yield* Repository.for(Book)
      const loans = yield* Repository.for(Loan)
      // The condition and the change are one atomic update: of two who want the last copy, one gets it.
      const { matchedCount } = yield* books.updateOne(
        ($) => $.id.equals(book.id).and($.on_shelf.greaterThan(0)),
        ($) => [$.on_shelf.increment(-1)]
      )
      if (matchedCount === 0) return yield* new NoCopyLeft()
      const { subject: member } = yield* CurrentUser
      return yield* loans.insert(yield* Model.finalise(Loan, { book: book.id, member }))
    }))
})
  .grant(Anonymous, { methods: "GET" })
  .grant(Authenticated, { methods: "borrow" })
  .require(Role("librarian"))
