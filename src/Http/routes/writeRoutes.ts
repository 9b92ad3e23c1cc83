import * as Effect from "effect/Effect"
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
import { writesOf } from "./conditionalWrites.ts"
import type { ImplementedResource } from "./implemented.ts"
import { withIdOf, withRequest } from "./route.ts"
import { writeReaders, type WriteRequest } from "./writeRequest.ts"

/**
 * The endpoints that change documents of a resource, each in three steps: read the request, apply it, answer.
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
  const { model } = registration
  const read = writeReaders(registration, view, limits)
  const apply = writesOf(registration, repository, store, view)
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
    create: withRequest((request) => steps(read.create(request), apply.create)),
    replace: withIdOf(model, (id, request) => steps(read.replace(id, request), apply.replace)),
    patch: withIdOf(model, (id, request) => steps(read.patch(id, request), apply.patch)),
    delete: withIdOf(model, (id, request) => steps(read.delete(id, request), apply.delete))
  }
}
