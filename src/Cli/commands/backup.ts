/** `appkernel backup`: copies a folder of the embedded store while it is used. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as EmbeddedStore from "../../Repository/EmbeddedStore.ts"
import { withConfig } from "./engineModule.ts"
import { folderOf, folderPath } from "./folder.ts"
import { counted, jsonFlag, print, reported } from "./output.ts"

export const backupCommand = Command.make(
  "backup",
  {
    to: Argument.String("to").pipe(Argument.withDescription("The folder to make")),
    path: Flag.String("path").pipe(
      Flag.withDescription("The folder of the store. Defaults to embedded.path of the configuration"),
      Flag.optional
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ json, path: given, to }) {
    const path = yield* folderOf(given)
    const target = yield* folderPath(to)
    yield* Console.error(`Copying ${path}`)
    const made = yield* withConfig(EmbeddedStore.backup({ path, to: target }))
    yield* print(json, made, [
      `Made ${to}: ${made.bytes.toLocaleString("en")} bytes, SHA-256 ${made.sha256}`,
      ...made.collections.map(collectionLine)
    ])
  }, reported)
).pipe(
  Command.withDescription("Copy a folder of the embedded store, also while a service has it open"),
  Command.withExamples([{ command: "appkernel backup backups/monday", description: "Make the folder backups/monday" }])
)

export const collectionLine = ({ documents, name }: EmbeddedStore.Backup["collections"][number]): string =>
  `  ${name}: ${counted(documents, "document")}`
