/** Copies a store's file while it is used: one of lmdb's snapshots, without its free pages. */
import type { StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Effect from "effect/Effect"
import { open, type RootDatabase } from "lmdb"
import { failuresOf, hasStore, openReadOnly } from "./readOnly.ts"

/** The environments that this process has open, by their folders: lmdb opens none a second time for reading only. */
const ownEnvironments = new Map<string, RootDatabase<Buffer, Uint8Array>>()

/** Makes an open environment known until the scope closes. */
export const registered = (folder: string, environment: RootDatabase<Buffer, Uint8Array>) =>
  Effect.acquireRelease(
    Effect.sync(() => ownEnvironments.set(folder, environment)),
    () => Effect.sync(() => ownEnvironments.delete(folder))
  )

/** Copies the last commit of a folder, which this or another process may write to meanwhile, into an empty folder. */
export const copyTo = Effect.fnUntraced(
  function*(folder: string, to: string): Effect.fn.Return<void, StoreUnavailable> {
    const failed = failuresOf("backup", folder, "copied")
    yield* hasStore(folder, failed)
    const attempt = <A>(evaluate: () => A) => Effect.try({ try: evaluate, catch: failed })
    const copy = (environment: RootDatabase) =>
      Effect.tryPromise({ try: () => environment.backup(to, true), catch: failed })
    const known = ownEnvironments.get(folder)
    yield* known === undefined
      ? Effect.scoped(Effect.flatMap(openReadOnly(folder, failed), copy))
      : copy(known)
    yield* Effect.acquireUseRelease(
      attempt(() => open({ path: to, noSubdir: false, maxDbs: 3, overlappingSync: false })),
      (environment) => attempt(() => completeMeta(environment)),
      (environment) => Effect.promise(() => environment.close())
    )
  }
)

// internal

/** A copy's empty meta page, to which lmdb would go back after a crash, is written by one of two commits. */
const completeMeta = (environment: RootDatabase): void => {
  const catalog = environment.openDB<Buffer, Buffer>({ name: "catalog", encoding: "binary", keyEncoding: "binary" })
  const [first] = catalog.getRange({ limit: 1 })
  if (first === undefined) return
  const [key, value] = [Buffer.from(first.key), Buffer.from(first.value)]
  for (let commits = 0; commits < 2; commits++) environment.transactionSync(() => catalog.putSync(key, value))
}
