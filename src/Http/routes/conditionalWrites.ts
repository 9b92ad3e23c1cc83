import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ModelView } from "../../Access/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { Repository } from "../../Repository/Repository.ts"
import type { CallFailure } from "../response/callFailures.ts"
import type { Written } from "../response/writeResponse.ts"
import { createWrites } from "./createWrites.ts"
import { deleteWrites } from "./deleteWrites.ts"
import { hooksOf, unwrapped } from "./hooks.ts"
import type { ImplementedResource } from "./implemented.ts"
import { patchWrites } from "./patchWrites.ts"
import { replaceWrites } from "./replaceWrites.ts"
import { type Values, writeContext } from "./writeContext.ts"
import type { Changes, ManyDocuments, OneDocument, WriteRequest } from "./writeRequest.ts"

/**
 * The writes of a resource: each checks preconditions, runs hooks and makes one call of the repository.
 *
 * @internal
 */
export interface Writes {
  /** Inserts a document, or replaces that of the same identifier; inserts several, all of them or none. */
  readonly create: (request: WriteRequest<OneDocument | ManyDocuments>) => Effect.Effect<Written, CallFailure>
  readonly replace: (request: WriteRequest<Values>) => Effect.Effect<Written, CallFailure>
  readonly patch: (request: WriteRequest<Changes>) => Effect.Effect<Written, CallFailure>
  readonly delete: (request: WriteRequest<undefined>) => Effect.Effect<Written, CallFailure>
}

/** @internal */
export const writesOf = (
  registration: ImplementedResource,
  repository: Repository<Model.Any>,
  store: DocumentStore["Service"],
  view: ModelView
): Writes => {
  const { hooks, model } = registration
  const context = writeContext(registration, repository, store, view)
  const replaceWith = replaceWrites(context)
  const onPut = hooksOf(model, hooks, "PUT")
  return {
    create: createWrites(context, hooksOf(model, hooks, "POST"), replaceWith),
    replace: ({ body, conditions, id }) => unwrapped(replaceWith(onPut, Option.some(id), id, body, conditions)),
    patch: patchWrites(context, hooksOf(model, hooks, "PATCH")),
    delete: deleteWrites(context, hooksOf(model, hooks, "DELETE"))
  }
}
