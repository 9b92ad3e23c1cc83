/** Copies a store's file while it is used: one of lmdb's snapshots, without its free pages. */
import type { StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Effect from "effect/Effect"
import { open, type RootDatabase } from "lmdb"
import { prepareUnused } from "./preflight.ts"
import { failuresOf, hasStore, openReadOnly } from "./readOnly.ts"

interface OwnEnvironment {
  readonly environment: RootDatabase<Buffer, Uint8Array>
  /** Ends with the copies that have been begun. */
  copies: Promise<unknown>
}

/** The environments that this process has open, by their folders: lmdb opens none a second time for reading only. */
const ownEnvironments = new Map<string, OwnEnvironment>()

/** Makes an open environment known until the scope closes, which waits for the end of copies. */
export const registered = (folder: string, environment: OwnEnvironment["environment"]) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const own: OwnEnvironment = { environment, copies: Promise.resolve() }
      ownEnvironments.set(folder, own)
      return own
    }),
    (own) =>
      Effect.suspend(() => {
        ownEnvironments.delete(folder)
        return Effect.promise(() => own.copies)
      })
  )

/** Copies the last commit of a folder, which this or another process may write to meanwhile, into an empty folder. */
export const copyTo = Effect.fnUntraced(
  function*(folder: string, to: string): Effect.fn.Return<void, StoreUnavailable> {
    const failed = failuresOf("backup", folder, "copied")
    yield* hasStore(folder, failed)
    const attempt = <A>(evaluate: () => A) => Effect.try({ try: evaluate, catch: failed })
    // lmdb can't stop a copy, and reads the environment until its end.
    const copied = (copy: () => Promise<void>) =>
      Effect.uninterruptible(Effect.tryPromise({ try: copy, catch: failed }))
    const own = ownEnvironments.get(folder)
    yield* own === undefined
      ? Effect.scoped(Effect.flatMap(
        openReadOnly(folder, failed),
        (environment) => copied(() => environment.backup(to, true))
      ))
      : copied(() => {
        const copy = own.environment.backup(to, true)
        own.copies = Promise.allSettled([own.copies, copy])
        return copy
      })
    yield* Effect.acquireUseRelease(
      attempt(() => {
        prepareUnused(to)
        return open({ path: to, noSubdir: false, maxDbs: 3, overlappingSync: false })
      }),
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
