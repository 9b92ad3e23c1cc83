/** `appkernel restore`: makes a folder of the embedded store of a backup. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as EmbeddedStore from "../../Repository/EmbeddedStore.ts"
import { collectionLine } from "./backup.ts"
import { withConfig } from "./engineModule.ts"
import { folderOf } from "./folder.ts"
import { jsonFlag, print, reported, switchFlag } from "./output.ts"

export const restoreCommand = Command.make(
  "restore",
  {
    backup: Argument.String("backup").pipe(Argument.withDescription("The folder of the backup")),
    path: Flag.String("path").pipe(
      Flag.withDescription("The folder to make. Defaults to embedded.path of the configuration"),
      Flag.optional
    ),
    replace: switchFlag("replace", "Moves a folder that is there out of the way, which nobody may have open"),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ backup, json, path: given, replace }) {
    const path = yield* folderOf(given)
    yield* Console.error(`Restoring ${path}`)
    const made = yield* withConfig(EmbeddedStore.restore({ from: backup, path, replace }))
    yield* print(json, made, [
      `Made ${path}`,
      ...made.replaced === undefined ? [] : [`What was there is in ${made.replaced}`],
      ...made.collections.map(collectionLine)
    ])
  }, reported)
).pipe(Command.withDescription("Make the folder of the embedded store of a backup. Overwrites nothing"))
