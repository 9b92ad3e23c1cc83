/**
 * The first start on a new store: no earlier version runs on it, so documents are written in the newest forms of their
 * models from the beginning.
 */
import * as Effect from "effect/Effect"
import type * as Model from "../../Model/Model.ts"
import { hasVersions, ownerOf } from "../collection/storedCollection.ts"
import { DocumentStore } from "../DocumentStore.ts"
import type { StoreError } from "../RepositoryError.ts"
import { marksCollection, raiseMark } from "./marks.ts"

/** Begins with the newest forms if the store is new: one process does, and each leaves a sign. */
export const beginForms = Effect.fnUntraced(function*(
  models: ReadonlyArray<Model.Any>
): Effect.fn.Return<void, StoreError, DocumentStore> {
  const store = yield* DocumentStore
  if ((yield* store.listCollections).length > 0) return
  const isFirst = yield* store.insertOne(marksCollection, { _id: begun }).pipe(
    Effect.as(true),
    Effect.catchTag("DuplicateKey", () => Effect.succeed(false))
  )
  if (!isFirst) return
  for (const model of models.map(ownerOf).filter(hasVersions)) {
    const { formsOf } = yield* Effect.promise(() => import("./forms.ts"))
    // Documents of earlier forms may still be brought from elsewhere.
    yield* raiseMark(store, model.modelName, { understood: formsOf(model).newest })
  }
})

// internal

const begun = "appkernel"
