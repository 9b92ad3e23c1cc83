/** `appkernel indexes`: compares the installed indexes with those of the models, and installs them. */
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Inspection from "../../Repository/Inspection.ts"
import { engineModule, modelsOf, withStore } from "./engineModule.ts"
import { CommandFailed, counted, jsonFlag, print, reported, switchFlag } from "./output.ts"

const wayOut = "Stop the service first; it installs missing indexes by itself when it starts"

export const indexesCommand = Command.make(
  "indexes",
  {
    module: engineModule,
    apply: switchFlag("apply", "Installs what is missing, and rebuilds what differs"),
    drop: switchFlag("drop", "With --apply: drops those that no model has"),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ apply, drop, json, module }) {
    if (drop && !apply) return yield* new CommandFailed({ detail: "--drop needs --apply", code: 2 })
    const found = yield* withStore(module, { inUse: apply ? wayOut : undefined }, (engine) =>
      Effect.gen(function*() {
        if (apply) {
          for (const model of modelsOf(engine)) {
            yield* Console.error(`${model.modelName}: installing indexes`)
            yield* Inspection.applyIndexes(model, drop)
          }
        }
        return (yield* Effect.forEach(modelsOf(engine), (model) => Inspection.indexDifferences(model))).flat()
      }))
    const lines = found.flatMap(indexLines)
    yield* print(json, found, lines.length === 0 ? ["All indexes are those of the models"] : lines)
    const differences = found.filter(isDifferent).length
    if (differences > 0) {
      return yield* new CommandFailed({ detail: `The indexes of ${counted(differences, "collection")} differ` })
    }
  }, reported)
).pipe(Command.withDescription("Compare the indexes of the store with those of the models, and install them"))

export const isDifferent = ({ different, missing }: Inspection.Indexes): boolean =>
  different.length + missing.length > 0

export const indexLines = ({ collection, different, extra, missing }: Inspection.Indexes): ReadonlyArray<string> => [
  ...missing.map((name) => `${collection}: index ${name} is missing`),
  ...different.map((name) => `${collection}: index ${name} has another definition`),
  ...extra.map((name) => `${collection}: index ${name} is of no model`)
]
