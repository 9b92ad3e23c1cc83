/** Loads what needs LMDB. */
import { StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Effect from "effect/Effect"

/** What a module exports, loaded by need. Fails where the package `lmdb` is not installed, which only folders need. */
export const loaded = <A>(load: () => Promise<A>): Effect.Effect<A, StoreUnavailable> =>
  Effect.catchDefect(
    Effect.promise(load),
    (defect) => isWithoutLmdb(defect) ? Effect.fail(notInstalled) : Effect.die(defect)
  )

const isWithoutLmdb = (defect: unknown): boolean =>
  defect instanceof Error && "code" in defect && defect.code === "ERR_MODULE_NOT_FOUND"
  && defect.message.includes("'lmdb'")

const notInstalled = new StoreUnavailable({
  operation: "open",
  detail: "a store in a folder needs the package lmdb: npm install lmdb",
  retryable: false
})
