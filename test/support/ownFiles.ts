import { Effect, Layer } from "effect"
import { filesOfStore } from "../../src/Files/internal.ts"
import { DocumentStore, FileStore } from "../../src/index.ts"

/** A store of documents, with the files that are beside them. */
export const withOwnFiles = <E>(store: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  Layer.provideMerge(
    Layer.effect(
      FileStore.FileStore,
      Effect.flatMap(DocumentStore.DocumentStore, (documents) => filesOfStore(documents))
    ),
    store
  )
