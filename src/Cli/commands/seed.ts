/** `appkernel seed`: fills a store with what a project begins with. */
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { DocumentStore } from "../../Repository/DocumentStore.ts"
import { engineModule, loadBeside, modelsOf, withStore } from "./engineModule.ts"
import { CommandFailed, reported, switchFlag } from "./output.ts"

export const seedCommand = Command.make(
  "seed",
  {
    module: engineModule,
    again: switchFlag("again", "Runs although the models have documents already")
  },
  Effect.fnUntraced(function*({ again, module }) {
    const given = yield* loadBeside(module, {
      name: "seed",
      isOne: isSeed,
      example: "export const seed = Effect.gen(…)"
    })
    const effect = Effect.isEffect(given) ? given : Effect.scoped(Layer.build(given))
    yield* withStore(module, { inUse: "Stop the service first" }, (engine) =>
      Effect.gen(function*() {
        const store = yield* DocumentStore
        for (const { modelName } of again ? [] : modelsOf(engine)) {
          if ((yield* store.find(modelName, { limit: 1 })).length > 0) {
            return yield* new CommandFailed({
              detail: `${modelName} has documents already. --again runs the seed anyway`
            })
          }
        }
        yield* effect
      }))
    yield* Console.log("The store is filled")
  }, reported)
).pipe(
  Command.withDescription("Run the effect seed of the engine's module, or of seed.ts beside it, on an empty store")
)

// internal

/** Tests the kind of the export only: a value at run time does not show the types of an Effect or a layer. */
const isSeed = (
  value: unknown
): value is Effect.Effect<unknown, Error, DocumentStore> | Layer.Layer<never, Error, DocumentStore> =>
  Effect.isEffect(value) || Layer.isLayer(value)
