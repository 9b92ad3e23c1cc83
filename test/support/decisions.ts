/** Decisions for tests of repositories, without the HTTP server. */
import { Effect } from "effect"
import { AccessDecision, type ModelDecision, type RowFilters } from "../../src/Repository/internal.ts"

/** What a caller without masked fields may do with the documents of a model. */
const decisionOf = (rows: RowFilters): ModelDecision => ({
  read: [],
  write: [],
  rows,
  rowsBy: () => rows,
  links: undefined,
  matcher: () => () => true,
  reason: "the caller's grants do not allow it"
})

/** Runs an effect with these row filters, which are the same for every model; without any if `undefined`. */
export const withFilters = (rows: RowFilters | undefined) =>
  Effect.provideService(AccessDecision, {
    endpoint: undefined,
    addressed: undefined,
    of: () => Effect.succeed(rows === undefined ? undefined : decisionOf(rows)),
    linksAt: () => Effect.succeed({ endpoints: [], matcher: () => () => true }),
    origin: {},
    grants: () => []
  })
