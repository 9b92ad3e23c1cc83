/** The log lines of a start: where documents and endpoints are, and whether a configuration file is missing. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Model from "../../Model/Model.ts"
import { DocumentStore } from "../../Repository/DocumentStore.ts"
import { ownerOf } from "../../Repository/internal.ts"
import * as Upgrade from "../../Repository/Upgrade.ts"
import * as KernelConfig from "../KernelConfig.ts"
import type * as Registration from "../registration/registration.ts"
import { afterReady, whenReady } from "../server/readiness.ts"

/** Warns of a program that reads no configuration file, unless it is configured otherwise. */
export const warnOfUnread = Effect.gen(function*() {
  if (yield* KernelConfig.IsLoaded) return
  const log = (yield* KernelConfig.hasKeys) ? Effect.logInfo : Effect.logWarning
  yield* log(
    "No cfg.yml is read: start the service by engine.launch, or provide KernelConfig.layer() to all of its layers"
  )
})

/** Logs where documents and endpoints are when the service is ready, and then what it found in the store. */
export const announced = (registrations: ReadonlyArray<Registration.Registration>) =>
  Layer.effectDiscard(Effect.gen(function*() {
    const store = yield* DocumentStore
    const scope = yield* Effect.scope
    const models = registrations.flatMap((one) => one._tag === "Resource" ? [ownerOf(one.model)] : [])
    const findings = Effect.provideService(logFindings(models), DocumentStore, store)
    yield* whenReady(Effect.andThen(
      Effect.logInfo(`Documents are in ${store.description}`),
      registrations.length === 0 ? Effect.void : Effect.logInfo(`Endpoints: ${registrations.map(placeOf).join("; ")}`)
    ))
    // The start does not wait for the search.
    yield* afterReady(Effect.asVoid(Effect.forkIn(findings, scope)))
  }))

const placeOf = (registration: Registration.Registration): string => {
  const { calls, name } = registration
  const own = registration._tag === "Resource" ? [registration.path] : []
  return `${name} at ${[...new Set([...own, ...calls.map(({ path }) => path)])].join(", ")}`
}

/**
 * Says after the start, in one line each, what a sample of the stored documents shows: those that don't fit their model, and
 * those in earlier forms. `npx appkernel check` looks at all.
 */
export const logFindings = (models: Iterable<Model.Any>): Effect.Effect<void, never, DocumentStore> =>
  Effect.forEach(new Set(models), (model) =>
    Effect.matchEffect(Upgrade.sample(model), {
      onFailure: (error) => Effect.logWarning(`${model.modelName} was not looked at: ${error.message}`),
      onSuccess: (sample) => Effect.forEach(linesOf(sample), (line) => Effect.logWarning(line))
    }), { discard: true })

const linesOf = ({ documents, earlier, misfits, model, newest }: Upgrade.Sample): ReadonlyArray<string> => {
  const [first] = misfits
  const of = `of the first ${documents} documents of ${model}`
  return [
    ...first === undefined ? [] : [
      `${misfits.length} ${of} can't be read, such as ${first.id} (${
        first.problems.map(({ field }) => field).join(", ")
      }): see npx appkernel check`
    ],
    ...earlier === 0
      ? []
      : [`${earlier} ${of} are stored in an earlier form: npx appkernel upgrade brings them to form ${newest}`]
  ]
}
