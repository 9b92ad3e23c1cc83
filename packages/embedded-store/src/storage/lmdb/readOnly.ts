/** Opens a store's file that this process has not open, for reads: another process may write to it meanwhile. */
import { StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { open, type RootDatabase } from "lmdb"
import * as fs from "node:fs"
import * as path from "node:path"
import { requireRegularFiles } from "./folderLock.ts"
import { dataFile } from "./preflight.ts"

export type Failed = (cause: unknown) => StoreUnavailable

/** The failures of an operation on a folder, which can't be what `done` says: `copied`. */
export const failuresOf = (operation: string, folder: string, done: string): Failed => (cause) =>
  new StoreUnavailable({
    operation,
    detail: `folder ${folder} can't be ${done}: ${cause instanceof Error ? cause.message : String(cause)}`,
    retryable: false
  })

/** Fails for a folder without a store, which lmdb would create. */
export const hasStore = (folder: string, failed: Failed): Effect.Effect<void, StoreUnavailable> =>
  Effect.flatMap(requireRegularFiles(folder, failed), () =>
    fs.existsSync(path.join(folder, dataFile))
      ? Effect.void
      : Effect.fail(failed(new Error(`it has no ${dataFile}`))))

/** The environment of a folder until the scope closes. */
export const openReadOnly = (
  folder: string,
  failed: Failed
): Effect.Effect<RootDatabase<Buffer, Uint8Array>, StoreUnavailable, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({
      try: () => open<Buffer, Uint8Array>({ path: folder, noSubdir: false, maxDbs: 3, readOnly: true }),
      catch: failed
    }),
    (environment) => Effect.promise(() => environment.close())
  )
