/** The embedded store in a folder. This module loads LMDB. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { DocumentStore } from "../../DocumentStore.ts"
import { StoreUnavailable } from "../../RepositoryError.ts"
import * as keyValueLmdb from "../../storage/lmdb/store.ts"
import { fromKeyValue } from "./fromKeyValue.ts"

export const open = (
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
