/** Reads a store's file while another process has it open: lmdb's last commit. */
import type { Document } from "@appkernel/document-store/DocumentStore"
import type { StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { Listener, ReadTable, StoreFailure } from "../orderedStore.ts"
import { formatKey, isMixed as isMixedFormat } from "./format.ts"
import { attempted } from "./groupCommit.ts"
import { failuresOf, hasStore, openReadOnly } from "./readOnly.ts"
import { type Bytes, documentForm, encodingBehind, numberLength, tableOf, tablesOf } from "./table.ts"

// lmdb's own transaction, which begins with the next read after a renewal.
const reading = () => undefined

const neverWrites = () => {}

export interface OpenReader {
  readonly catalog: ReadTable<Document>
  readonly documents: (collection: number) => ReadTable<Document>
  /** Begins to read the last commit that there is now. */
  readonly renew: Effect.Effect<void>
  readonly read: <A>(operation: string, step: () => A) => Result.Result<A, StoreFailure>
}

/** Opens a folder that this process has not open, for reads until the scope closes. */
export const openReader = Effect.fnUntraced(function*(
  folder: string,
  describe: Listener["describe"]
): Effect.fn.Return<OpenReader, StoreUnavailable, Scope.Scope> {
  const failed = failuresOf("open", folder, "read")
  yield* hasStore(folder, failed)
  const environment = yield* openReadOnly(folder, failed)
  const database = (name: string, prefixLength: number): Bytes =>
    environment.openDB<Uint8Array, string>({ name, ...encodingBehind(prefixLength) })
  const opened = (): OpenReader => {
    const catalog = tableOf(database("catalog", 0), "", documentForm("", 0, true), reading, neverWrites)
    const isMixed = isMixedFormat(catalog.get(formatKey))
    return {
      catalog,
      documents: tablesOf(
        database("documents", numberLength),
        (database, prefix, number) =>
          tableOf(database, prefix, documentForm(prefix, number, isMixed), reading, neverWrites)
      ),
      renew: Effect.sync(() => environment.resetReadTxn()),
      read: (operation, step) => attempted(operation, step, describe)
    }
  }
  return yield* Effect.try({ try: opened, catch: failed })
})
