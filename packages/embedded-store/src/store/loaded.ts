/** Loads what needs LMDB. */
import { StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"

/** What a module exports, loaded by need. Fails where the package `lmdb` is not installed, which only folders need. */
export const loaded = <A>(load: () => Promise<A>): Effect.Effect<A, StoreUnavailable> =>
  Effect.catchDefect(
    Effect.promise(load),
    (defect) => isWithoutLmdb(defect) ? Effect.fail(notInstalled) : Effect.die(defect)
  )

const isWithoutLmdb = (defect: unknown): boolean =>
  Predicate.hasProperty(defect, "code") && defect.code === "ERR_MODULE_NOT_FOUND" && String(defect).includes("'lmdb'")

const notInstalled = new StoreUnavailable({
  operation: "open",
  detail: "a store in a folder needs the package lmdb: npm install lmdb",
  retryable: false
})
