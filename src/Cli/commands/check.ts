/** `appkernel check`: compares what is stored with the models. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Inspection from "../../Repository/Inspection.ts"
import * as Migration from "../../Repository/Migration.ts"
import * as Upgrade from "../../Repository/Upgrade.ts"
import { engineModule, modelsOf, withStore } from "./engineModule.ts"
import { indexLines, isDifferent } from "./indexes.ts"
import { CommandFailed, counted, jsonFlag, numberFlag, print, reported } from "./output.ts"
import { formLines, misfitLine } from "./upgrade.ts"

export const checkCommand = Command.make(
  "check",
  {
    module: engineModule,
    ids: numberFlag("ids", 0, "The number of documents of a model that are named. Defaults to 10").pipe(
      Flag.withDefault(10)
    ),
    sample: numberFlag("sample", 1, "Reads this number of documents of each model at most. Defaults to all").pipe(
      Flag.optional
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ ids, json, module, sample }) {
    const found = yield* withStore(module, { inUse: undefined }, (engine) =>
      Effect.gen(function*() {
        const models = modelsOf(engine)
        const documents = yield* Effect.forEach(models, (model) =>
          Effect.andThen(
            Console.error(`Reading ${model.modelName}`),
            Inspection.documentsOf(model, { ids, sample: Option.getOrUndefined(sample) })
          ))
        const forms = yield* Effect.forEach(models, (model) => Upgrade.storedForms(model))
        const indexes = (yield* Effect.forEach(models, (model) => Inspection.indexDifferences(model))).flat()
        return { documents, forms, indexes, migrations: yield* Migration.status(engine.migrations) }
      }))
    yield* print(json, found, [
      ...found.documents.flatMap((documents, i) => documentLines(documents, found.forms[i]!)),
      ...found.forms.flatMap(formLines),
      ...found.indexes.flatMap(indexLines),
      ...found.migrations.pending.map((id) => `migration ${id} has not run`),
      ...found.migrations.edited.map((id) => `migration ${id} was edited after it has run`),
      ...found.migrations.unknown.map((id) => `migration ${id} has run, and the engine does not name it`)
    ])
    const unfit = found.documents.reduce((sum, { unfit }) => sum + unfit, 0)
    const differences = found.indexes.filter(isDifferent).length
    const migrations = found.migrations.pending.length + found.migrations.edited.length
    if (unfit + differences + migrations > 0) {
      return yield* new CommandFailed({
        detail: [
          `${counted(unfit, "document does", "documents do")} not fit`,
          `the indexes of ${counted(differences, "collection")} differ`,
          `${counted(migrations, "migration")} to look at`
        ].join(", ")
      })
    }
  }, reported)
).pipe(
  Command.withDescription("Compare the stored documents, indexes and migrations with the models. Changes nothing")
)

// internal

const documentLines = (
  { collection, documents, examples, fields, unfit }: Inspection.Documents,
  forms: Upgrade.StoredForms
) => [
  `${collection}: ${counted(documents, "document")}, ${
    unfit === 0 ? "all fit" : `${unfit.toLocaleString("en")} do not fit`
  }`,
  ...Object.entries(fields).map(([field, count]) =>
    `  ${field === "" ? "(document)" : field}: in ${counted(count, "document")}`
  ),
  ...examples.map((misfit) => misfitLine(misfit, forms))
]
