/** What callers know of the library: no handler, no store and nothing of Node, so that a browser can load it. */
import { KernelApi, Resource, ServiceError, TokensApi } from "appkernel"
import { Schema } from "effect"
import { Book } from "./Book.ts"
import { Loan } from "./Loan.ts"
import { Member } from "./Member.ts"

export class NoCopyLeft extends ServiceError<NoCopyLeft>()("NoCopyLeft", {
  status: 409,
  message: "All copies are lent"
}) {}

export class AlreadyReturned extends ServiceError<AlreadyReturned>()("AlreadyReturned", {
  status: 409,
  message: "The book is back already"
}) {}

export class BooksOut extends ServiceError<BooksOut>()("BooksOut", {
  status: 409,
  message: "The member still has books",
  fields: { count: Schema.Int }
}) {}

export const BooksApi = Resource.describe(Book, {
  methods: ["GET", "POST", "PATCH", "DELETE"],
  anonymous: ["GET"]
})
  .action("borrow", { method: "POST", success: Loan, error: NoCopyLeft, summary: "Borrow the book for four weeks" })

export const LoansApi = Resource.describe(Loan, { methods: ["GET"] })
  .action("give_back", { method: "POST", success: Loan, error: AlreadyReturned, summary: "Give the book back" })

export const MembersApi = Resource.describe(Member, {
  methods: ["GET", "POST", "PATCH", "DELETE"],
  anonymous: ["POST"],
  errors: { DELETE: BooksOut }
})

export const api = KernelApi.make("library")
  .register(BooksApi, { urlBase: "/api/v1" })
  .register(LoansApi, { urlBase: "/api/v1" })
  .register(MembersApi, { urlBase: "/api/v1" })
  .register(TokensApi.description, { urlBase: "/api/v1" })
  .enableSecurity()
