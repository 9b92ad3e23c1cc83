import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { DocumentStore } from "../../DocumentStore.ts"
import type { StoreUnavailable } from "../../RepositoryError.ts"
import type { SteppedKeyValue } from "../../storage/orderedStore.ts"
import { makeTransactional } from "../../store/transactionRunner.ts"
import { Catalog } from "../catalog/catalog.ts"
import { DocumentWriter } from "../operations/documentWriter.ts"
import { makeIndexing } from "../operations/indexBuild.ts"
import { makeEmbeddedReads } from "../operations/reads.ts"
import { makeExpiry } from "../operations/ttl.ts"
import { makeEmbeddedWrites } from "../operations/writes.ts"
import { makeGate, makeTransactionPolicy } from "../transaction/optimisticTransaction.ts"
import { makeVersions } from "../transaction/snapshots.ts"

/**
 * The store over ordered tables.
 *
 * @internal
 */
export const fromKeyValue = (
  store: SteppedKeyValue,
  location: string
): Effect.Effect<DocumentStore["Service"], StoreUnavailable, Scope.Scope> =>
  Effect.gen(function*() {
    const versions = makeVersions(store)
    const gate = makeGate(versions.store)
    const { store: gated } = gate
    const catalog = new Catalog(gated)
    const writer = new DocumentWriter(gated, catalog)
    const indexing = yield* makeIndexing(gated, catalog, writer, yield* makeExpiry(gated, catalog, writer))
    const { operations, outside, transaction } = makeTransactional(
      { ...makeEmbeddedReads(gated, catalog), ...makeEmbeddedWrites(gated, catalog, writer) },
      makeTransactionPolicy(versions, gate, catalog)
    )
    return DocumentStore.of({
      description: `the embedded store in ${location}`,
      ...operations,
      transaction,
      ...outside(indexing)
    })
  })
