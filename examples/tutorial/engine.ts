import { KernelEngine, Tokens } from "appkernel"
import { api } from "./api.ts"
import { Books } from "./Books.ts"
import { Loans } from "./Loans.ts"
import { Members } from "./Members.ts"

export const engine = KernelEngine.fromApi(api, [Books, Loans, Members, Tokens.service], { roles: ["librarian"] })
  .enableOpenApi({ title: "Library", version: "1.0.0" })
