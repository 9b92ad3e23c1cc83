/** The embedded store in a folder. This module loads LMDB. */
import type { DocumentStore } from "@appkernel/document-store/DocumentStore"
import { StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as keyValueLmdb from "../storage/lmdb/store.ts"
import { fromKeyValue } from "./fromKeyValue.ts"

export const openFolder = (
  { cacheBytes, path }: { readonly path: string; readonly cacheBytes?: number | undefined }
): Effect.Effect<DocumentStore["Service"], StoreUnavailable, Scope.Scope> =>
  Effect.flatMap(
    keyValueLmdb.make(path, cacheBytes),
    (store) => Effect.map(fromKeyValue(store, `folder ${store.description}`), (opened) => ({ ...opened, folder: path }))
  ).pipe(
    // Completing an index reads its documents.
    Effect.catchTag(
      "DataDamaged",
      ({ message }) => new StoreUnavailable({ operation: "open", detail: message, retryable: false })
    )
  )
