import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { ModelView } from "../../Access/introspection.ts"
import type { FieldProblem } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { Repository } from "../../Repository/Repository.ts"
import type { Limits } from "../KernelConfig.ts"
import type { CallFailure, ResponseEffect } from "../response/callFailures.ts"
import { withoutHiddenFields } from "../response/hiddenFields.ts"
import type { Representations } from "../response/representation.ts"
import type { BadRequestResponder } from "../response/translation.ts"
import { writeResponses, type Written } from "../response/writeResponse.ts"
import { createWrites } from "./createWrites.ts"
import { deleteWrites } from "./deleteWrites.ts"
import { hooksOf, unwrapped } from "./hooks.ts"
import type { ImplementedResource } from "./implemented.ts"
import { patchWrites } from "./patchWrites.ts"
import { replaceWrites } from "./replaceWrites.ts"
import { withIdOf, withRequest } from "./route.ts"
import { writeContext } from "./writeContext.ts"
import { writeReaders, type WriteRequest } from "./writeRequest.ts"

/**
 * The endpoints that change documents of a resource, each in three steps: read the request, apply it, answer.
 * To apply one checks preconditions, runs hooks and makes one call of the repository.
 *
 * @internal
 */
export const writeRoutes = (
  registration: ImplementedResource,
  repository: Repository<Model.Any>,
  store: DocumentStore["Service"],
  representations: Representations,
  { limits, respondBadRequest, view }: {
    readonly limits: Limits
    readonly respondBadRequest: BadRequestResponder
    readonly view: ModelView
  }
): { readonly [N in "create" | "replace" | "patch" | "delete"]: ResponseEffect } => {
  const { hooks, model } = registration
  const read = writeReaders(registration, view, limits)
  const context = writeContext(registration, repository, store, view)
  const replaceWith = replaceWrites(context)
  const create = createWrites(context, hooksOf(model, hooks, "POST"), replaceWith)
  const patch = patchWrites(context, hooksOf(model, hooks, "PATCH"))
  const remove = deleteWrites(context, hooksOf(model, hooks, "DELETE"))
  const onPut = hooksOf(model, hooks, "PUT")
  const conceal = withoutHiddenFields(view.mask)
  const respond = writeResponses(registration, representations, view)

  const steps = <Body, E extends CallFailure>(
    reading: Effect.Effect<Result.Result<WriteRequest<Body>, ReadonlyArray<FieldProblem>>, E>,
    applying: (request: WriteRequest<Body>) => Effect.Effect<Written, CallFailure>
  ): ResponseEffect =>
    Effect.flatMapEager(reading, (request): ResponseEffect =>
      Result.isFailure(request)
        ? respondBadRequest(request.failure)
        : Effect.flatMapEager(
          view.mask.isEmpty ? applying(request.success) : Effect.mapError(applying(request.success), conceal),
          (written) => respond(written, request.success.prefer)
        ))

  return {
    create: withRequest((request) => steps(read.create(request), create)),
    replace: withIdOf(model, (id, request) =>
      steps(
        read.replace(id, request),
        ({ body, conditions, id }) => unwrapped(replaceWith(onPut, Option.some(id), id, body, conditions))
      )),
    patch: withIdOf(model, (id, request) => steps(read.patch(id, request), patch)),
    delete: withIdOf(model, (id, request) => steps(read.delete(id, request), remove))
  }
}
