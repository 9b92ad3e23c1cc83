/** `appkernel upgrade`: rewrites documents of earlier forms of their models. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Upgrade from "../../Repository/Upgrade.ts"
import { engineModule, modelsOf, withStore } from "./engineModule.ts"
import { CommandFailed, counted, jsonFlag, makeProgress, numberFlag, print, reported, switchFlag } from "./output.ts"

const wayOut = "Stop the service first, or run Upgrade.finish and Upgrade.upgrade in it"

export const upgradeCommand = Command.make(
  "upgrade",
  {
    module: engineModule,
    finish: switchFlag("finish", "Says that no process of an earlier version runs any more, which can't be taken back"),
    batch: numberFlag("batch", 1, "The number of documents that are read at once. Defaults to 500").pipe(
      Flag.withDefault(500)
    ),
    rate: numberFlag("rate", 1, "The most documents in a second. Defaults to as many as it takes").pipe(Flag.optional),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ batch, finish, json, module, rate }) {
    const found = yield* withStore(module, { inUse: wayOut }, (engine) =>
      Effect.gen(function*() {
        const progress = yield* makeProgress
        const results: Array<Upgrade.StoredForms & Upgrade.Progress> = []
        for (const model of modelsOf(engine)) {
          const before = yield* Upgrade.storedForms(model)
          if (before.newest === 1) continue
          if (finish && before.written < before.newest) {
            yield* Console.error(`${model.modelName}: every process is told to write form ${before.newest}`)
            yield* Upgrade.finish(model)
          }
          const total = before.stored.reduce((sum, { documents }) => sum + documents, 0).toLocaleString("en")
          const done = yield* Upgrade.upgrade(model, { batch, perSecond: Option.getOrUndefined(rate) }).pipe(
            Stream.tap(({ examined }) =>
              progress(`${model.modelName}: ${examined.toLocaleString("en")} of at most ${total} documents`)
            ),
            Stream.runLast
          )
          const none: Upgrade.Progress = { examined: 0, upgraded: 0, misfits: [] }
          const progressed = Option.getOrElse(done, () => none)
          if (before.isComplete && progressed.examined > 0) {
            yield* Console.error(
              `${model.modelName}: after the upgrade, an earlier version has written ` +
                `${counted(progressed.examined, "document")}: stop it, since queries do not find what it writes`
            )
          }
          results.push({ ...yield* Upgrade.storedForms(model), ...progressed })
        }
        return results
      }))
    yield* print(json, found, found.length === 0 ? ["No model has earlier forms"] : found.flatMap(linesOf))
    const misfits = found.reduce((sum, { misfits }) => sum + misfits.length, 0)
    if (misfits > 0) {
      return yield* new CommandFailed({ detail: `${counted(misfits, "document has", "documents have")} no way up` })
    }
  }, reported)
).pipe(
  Command.withDescription("Rewrite documents of earlier forms of their models, while the service runs"),
  Command.withExamples([
    { command: "appkernel upgrade --rate 500", description: "At most 500 documents in a second" },
    { command: "appkernel upgrade --finish", description: "Once no process of an earlier version runs any more" }
  ])
)

export const formLines = ({ isComplete, model, newest, stored, written }: Upgrade.StoredForms): ReadonlyArray<string> =>
  newest === 1 ? [] : [
    `${model}: ${stored.map(({ documents, form }) => `${counted(documents, "document")} of form ${form}`).join(", ")}`,
    ...isComplete
      ? []
      : written < newest
      ? [`  form ${written} is written, and not ${newest}, until upgrade --finish`]
      : stored.some(({ form }) => form < newest)
      ? ["  upgrade has not come to its end"]
      : ["  no earlier form is stored; queries look for them until upgrade has run"]
  ]

/** What is wrong with a stored document. */
export const misfitLine = (
  { form, id, problems }: Upgrade.Misfit,
  { newest }: Pick<Upgrade.StoredForms, "newest">
): string =>
  `  ${id}${newest === 1 ? "" : `, of form ${form}`}: ${
    problems.map(({ field, message }) => `${field} ${message}`.trim()).join("; ")
  }`

// internal

const linesOf = (result: Upgrade.StoredForms & Upgrade.Progress): ReadonlyArray<string> => [
  ...formLines(result),
  `  ${counted(result.upgraded, "document")} upgraded`,
  ...result.misfits.map((misfit) => misfitLine(misfit, result))
]
