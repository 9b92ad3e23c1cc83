import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { FieldProblem } from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import type { Repository } from "../../Repository/Repository.ts"
import type { Limits } from "../KernelConfig.ts"
import type { CallFailure, ResponseEffect } from "../response/callFailures.ts"
import type { Representation } from "../response/representation.ts"
import type { BadRequestResponder } from "../response/translation.ts"
import { writeResponses, type Written } from "../response/writeResponse.ts"
import { writesOf } from "./conditionalWrites.ts"
import { withIdOf, withRequest } from "./route.ts"
import type { ServedResource } from "./served.ts"
import { writeReaders, type WriteRequest } from "./writeRequest.ts"

/**
 * The endpoints that change documents of a resource, each in three steps: read the request, apply it, answer.
 *
 * @internal
 */
export const writeRoutes = (
  registration: ServedResource,
  repository: Repository<Model.Any>,
  store: DocumentStore["Service"],
  representation: Representation,
  { limits, respondBadRequest }: { readonly limits: Limits; readonly respondBadRequest: BadRequestResponder }
): { readonly [N in "create" | "replace" | "patch" | "delete"]: ResponseEffect } => {
  const { model } = registration
  const read = writeReaders(registration, representation, limits)
  const apply = writesOf(registration, repository, store)
  const respond = writeResponses(registration, repository, representation)

  const steps = <Body, E extends CallFailure>(
    reading: Effect.Effect<Result.Result<WriteRequest<Body>, ReadonlyArray<FieldProblem>>, E>,
    applying: (request: WriteRequest<Body>) => Effect.Effect<Written, CallFailure>
  ): ResponseEffect =>
    Effect.flatMapEager(reading, (request): ResponseEffect =>
      Result.isFailure(request)
        ? respondBadRequest(request.failure)
        : Effect.flatMapEager(applying(request.success), (written) => respond(written, request.success.prefer)))

  return {
    create: withRequest((request) => steps(read.create(request), apply.create)),
    replace: withIdOf(model, (id, request) => steps(read.replace(id, request), apply.replace)),
    patch: withIdOf(model, (id, request) => steps(read.patch(id, request), apply.patch)),
    delete: withIdOf(model, (id, request) => steps(read.delete(id, request), apply.delete))
  }
}
