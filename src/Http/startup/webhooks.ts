/** Tells subscribers what happens to documents: the events of an engine, and the job that delivers them. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Tracer from "effect/Tracer"
import type { BoundedCache } from "../../internal/boundedCache.ts"
import { DeclarationError } from "../../internal/declarationError.ts"
import type * as Model from "../../Model/Model.ts"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import { documentOperationsOf, ownerOf } from "../../Repository/internal.ts"
import * as Repository from "../../Repository/Repository.ts"
import type { ReadError } from "../../Repository/RepositoryError.ts"
import { isLogged } from "../description/standardEndpoints.ts"
import type { Doors } from "../expansion/embeddable.ts"
import type { Registration } from "../registration/registration.ts"
import { type AsSubject, delivering } from "../webhooks/delivering.ts"
import { isToldOf, telling } from "../webhooks/telling.ts"
import type { EventSource, Webhooks } from "./engineParts.ts"

/** The job of deliveries, and what enqueues them until the scope closes. Dies if an event can't be told. */
export const webhooksOf = Effect.fnUntraced(function*(
  { events, options }: Webhooks,
  registrations: ReadonlyArray<Registration>,
  made: {
    readonly causes: BoundedCache<Tracer.AnySpan> | undefined
    readonly doors: Doors
    readonly repositories: Context.Context<Repository.RepositoryOf<string>>
    readonly asSubject: AsSubject
    /** The name of the service. */
    readonly service: string
  }
) {
  const known = yield* Effect.forEach(Object.entries(events), ([type, from]) => {
    const model = modelOf(from)
    const registration = registrations.find((one) => one._tag === "Resource" && one.model === model)
    const door = registration && made.doors.get(registration.path)
    return registration === undefined || door === undefined
      ? Effect.die(new DeclarationError(`The event ${type} is of ${model.modelName}, which is not registered with GET`))
      : !isLogged(model)
      ? Effect.die(
        new DeclarationError(
          `The event ${type} needs the option logged of ${model.modelName}, whose changes it is told by`
        )
      )
      : Effect.succeed({ type, model: ownerOf(model), door, path: registration.path })
  })
  const implementation = yield* delivering(known, options, made.asSubject)
  const told = known.map(({ model, type }) => {
    const repository = Context.get(made.repositories, Repository.key(model))
    return { type, model: repository.model, upgraded: documentOperationsOf(repository).upgraded }
  })
  const causeOf = (transaction: string) => made.causes?.get(transaction)
  return { implementation, begin: telling({ service: made.service, told, causeOf }) }
})

/** Waits until all changes are told, for tests. Returns whether there were some that were not. */
export const untilTold = (
  store: DocumentStore["Service"],
  service: string,
  { events }: Webhooks
): Effect.Effect<boolean, ReadError> =>
  Effect.map(
    Effect.forEach(Object.entries(events), ([type, from]) => isToldOf(store, service, type, modelOf(from).modelName)),
    (told) => told.includes(true)
  )

// internal

/** The model of an event's documents. */
const modelOf = (from: EventSource): Model.Any => "description" in from ? from.description.model : from
