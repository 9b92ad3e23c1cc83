/** `appkernel verify`: reads a folder of the embedded store, or a backup, and checks its checksums. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as EmbeddedStore from "../../Repository/EmbeddedStore.ts"
import { collectionLine } from "./backup.ts"
import { CommandFailed, reported } from "./commandFailed.ts"
import { counted, jsonFlag, print } from "./output.ts"

export const verifyCommand = Command.make(
  "verify",
  {
    folder: Argument.String("folder").pipe(
      Argument.withDescription("A backup, or the folder of a store that nobody has open")
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ folder, json }) {
    const files = yield* FileSystem.FileSystem
    if (!(yield* files.exists(folder))) return yield* new CommandFailed({ detail: `There is no folder ${folder}` })
    const found = yield* EmbeddedStore.verify({ path: folder })
    const { collections, log, problem } = found
    const damagedChanges = log?.damaged ?? 0
    yield* print(json, found, [
      ...collections.map(collectionLine),
      ...collections.flatMap(({ damaged }) => damaged.map(({ message }) => message)),
      ...collections.filter(({ missing }) => missing > 0).map(({ missing, name }) => `${name}: ${missing} missing`),
      ...log === undefined ? [] : [`The log of changes: ${counted(log.changes, "change")}`],
      ...damagedChanges === 0 ? [] : [`${counted(damagedChanges, "change")} in the log are damaged`]
    ])
    if (problem !== undefined) return yield* new CommandFailed({ detail: `${folder}: ${problem}` })
    if (damagedChanges > 0 || collections.some(({ damaged, missing }) => damaged.length + missing > 0)) {
      return yield* new CommandFailed({ detail: `${folder} is damaged` })
    }
  }, reported)
).pipe(Command.withDescription("Check a backup, or a folder of the embedded store, by its checksums"))
