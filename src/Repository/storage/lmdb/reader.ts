/**
 * Reads a store's file while another process has it open: lmdb's last commit.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { open } from "lmdb"
import * as fs from "node:fs"
import * as path from "node:path"
import type { Document } from "../../DocumentStore.ts"
import { StoreUnavailable } from "../../RepositoryError.ts"
import type { Listener, ReadTable, StoreFailure } from "../orderedStore.ts"
import { formatKey, isMixed as isMixedFormat } from "./format.ts"
import { failureOf } from "./groupCommit.ts"
import { dataFile } from "./preflight.ts"
import { type Bytes, documentForm, encodingBehind, numberLength, tableOf, tablesOf } from "./table.ts"

// lmdb's own transaction, which begins with the next read after a renewal.
const reading = () => undefined

/** @internal */
export interface OpenReader {
  readonly catalog: ReadTable<Document>
  readonly documents: (collection: number) => ReadTable<Document>
  /** Begins to read the last commit that there is now. */
  readonly renew: Effect.Effect<void>
  readonly read: <A>(operation: string, step: () => A) => Result.Result<A, StoreFailure>
}

/**
 * Opens a folder that this process has not open, for reads until the scope closes.
 *
 * @internal
 */
export const openReader = Effect.fnUntraced(function*(
  folder: string,
  describe: Listener["describe"]
): Effect.fn.Return<OpenReader, StoreUnavailable, Scope.Scope> {
  const failed = (cause: unknown) =>
    new StoreUnavailable({
      operation: "open",
      detail: `folder ${folder} can't be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      retryable: false
    })
  // lmdb would create what is missing.
  if (!fs.existsSync(path.join(folder, dataFile))) return yield* failed(new Error(`it has no ${dataFile}`))
  const attempt = <A>(evaluate: () => A) => Effect.try({ try: evaluate, catch: failed })
  const environment = yield* Effect.acquireRelease(
    attempt(() => open<Buffer, Uint8Array>({ path: folder, noSubdir: false, maxDbs: 3, readOnly: true })),
    (environment) => Effect.promise(() => environment.close())
  )
  const database = (name: string, prefixLength: number): Bytes =>
    environment.openDB<Uint8Array, string>({ name, ...encodingBehind(prefixLength) })
  return yield* attempt((): OpenReader => {
    const catalog = tableOf(database("catalog", 0), "", documentForm("", 0, true), reading)
    const isMixed = isMixedFormat(catalog.get(formatKey))
    return {
      catalog,
      documents: tablesOf(
        database("documents", numberLength),
        (database, prefix, number) => tableOf(database, prefix, documentForm(prefix, number, isMixed), reading)
      ),
      renew: Effect.sync(() => environment.resetReadTxn()),
      read: (operation, step) =>
        Result.try({
          try: step,
          catch: (cause) => failureOf(operation, cause, describe) ?? Result.getOrThrowWith(Result.fail(cause), (_) => _)
        })
    }
  })
})
