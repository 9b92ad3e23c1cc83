/** Converts between instances of a model and stored documents. */
import * as Effect from "effect/Effect"
import { atFirstCall } from "../../internal/atFirstCall.ts"
import { recordDecoder } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { Problem } from "../../Model/ModelError.ts"
import type { Document } from "../DocumentStore.ts"
import { documentEncoder } from "../query/bsonForm.ts"
import { unreadableProblems } from "../query/unreadable.ts"
import { DocumentInvalid } from "../RepositoryError.ts"

/** Converts between instances and stored documents. The identifier of a document is its `_id`. */
export interface DocumentCodec<A> {
  readonly toDocument: (instance: A) => Document
  readonly fromDocument: (document: Document) => Effect.Effect<A, DocumentInvalid>
}

export const documentCodec = <M extends Model.Any>(model: M): DocumentCodec<M["Type"]> => {
  const decode = atFirstCall(() => recordDecoder(model))
  return {
    toDocument: atFirstCall(() => documentEncoder(model)),
    fromDocument: (document) =>
      Effect.mapErrorEager(
        decode(document),
        (problems) =>
          new DocumentInvalid({
            model: model.modelName,
            id: String(document["_id"]),
            problems: (unreadableProblems(document) ?? problems).map((problem) => new Problem(problem))
          })
      )
  }
}
