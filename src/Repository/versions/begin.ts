/**
 * The first start on a new store: no earlier version runs on it, so documents are written in the newest versions of their
 * models from the beginning.
 */
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import * as Semaphore from "effect/Semaphore"
import { Application, type RunningApplication } from "../../internal/application.ts"
import type { ModelLike } from "../../Model/internal.ts"
import { hasVersions, ownerOf } from "../collection/storedCollection.ts"
import { DocumentStore } from "../DocumentStore.ts"
import type { ReadError, StoreError } from "../RepositoryError.ts"
import { agreementsCollection, raiseAgreement } from "./agreement.ts"
import { modelVersionsOf } from "./modelVersions.ts"

/**
 * Begins with the newest version of a model, which a layer of a service may use before the service itself starts. The store is
 * looked at when the first repository is made, before anything is written. Other programs begin nothing.
 */
export const beginVersion = Effect.fnUntraced(function*(
  store: DocumentStore["Service"],
  model: ModelLike
): Effect.fn.Return<void, StoreError> {
  const application = yield* Application
  if (application !== undefined) yield* begin(store, [model], beginningsOf(application)(store))
})

/** Begins with the newest versions of a service's models if the store is new: one process does, and each leaves a sign. */
export const beginVersions = Effect.fnUntraced(function*(
  models: ReadonlyArray<ModelLike>
): Effect.fn.Return<void, StoreError, DocumentStore> {
  const [store, application] = [yield* DocumentStore, yield* Application]
  const beginning = application === undefined ? makeBeginning() : beginningsOf(application)(store)
  yield* begin(store, models, beginning)
  if (yield* isNew(store, beginning)) yield* isFirst(store, beginning)
})

// internal

/** What a service knows of the beginning of a store. */
interface Beginning {
  readonly turn: Semaphore.Semaphore
  /** Whether there was nothing in it when the service first looked. */
  isNew?: boolean
  /** Whether this process has left the sign. */
  isFirst?: boolean
}

const makeBeginning = (): Beginning => ({ turn: Semaphore.makeUnsafe(1) })

const beginningsOf: (application: RunningApplication) => (store: DocumentStore["Service"]) => Beginning = memoize(() =>
  memoize(makeBeginning)
)

const begin = Effect.fnUntraced(function*(
  store: DocumentStore["Service"],
  models: ReadonlyArray<ModelLike>,
  beginning: Beginning
): Effect.fn.Return<void, StoreError> {
  if (!(yield* isNew(store, beginning))) return
  for (const model of models.map(ownerOf).filter(hasVersions)) {
    if (!(yield* isFirst(store, beginning))) return
    // Documents of earlier versions may still be brought from elsewhere.
    yield* raiseAgreement(store, model.modelName, { understood: modelVersionsOf(model).newest })
  }
})

const isNew = (store: DocumentStore["Service"], beginning: Beginning): Effect.Effect<boolean, ReadError> =>
  beginning.turn.withPermit(
    Effect.suspend(() =>
      beginning.isNew !== undefined ? Effect.succeed(beginning.isNew) : Effect.map(
        store.listCollections,
        ({ length }) => beginning.isNew = length === 0
      )
    )
  )

const isFirst = (store: DocumentStore["Service"], beginning: Beginning): Effect.Effect<boolean, StoreError> =>
  beginning.turn.withPermit(
    Effect.suspend(() =>
      beginning.isFirst !== undefined ? Effect.succeed(beginning.isFirst) : Effect.map(
        Effect.catchTag(
          Effect.as(store.insertOne(agreementsCollection, { _id: begun }), true),
          "DuplicateKey",
          () => Effect.succeed(false)
        ),
        (isFirst) => beginning.isFirst = isFirst
      )
    )
  )

const begun = "appkernel"
