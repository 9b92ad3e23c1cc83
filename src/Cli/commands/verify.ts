/** `appkernel verify`: reads a folder of the embedded store, or a backup, and checks its checksums. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as EmbeddedStore from "../../Repository/EmbeddedStore.ts"
import { collectionLine } from "./backup.ts"
import { CommandFailed, counted, jsonFlag, print, reported } from "./output.ts"

export const verifyCommand = Command.make(
  "verify",
  {
    folder: Argument.String("folder").pipe(
      Argument.withDescription("A backup, or the folder of a store that nobody has open")
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ folder, json }) {
    const system = yield* FileSystem.FileSystem
    if (!(yield* system.exists(folder))) return yield* new CommandFailed({ detail: `There is no folder ${folder}` })
    const data = (yield* Path.Path).join(folder, "data.mdb")
    // Of one that can't be looked at, the check says why.
    if (!(yield* Effect.orElseSucceed(system.exists(data), () => true))) {
      return yield* new CommandFailed({
        detail: `${folder} is neither a backup nor the folder of a store: it has no data.mdb`
      })
    }
    const found = yield* EmbeddedStore.verify({ path: folder })
    const { collections, log, problem } = found
    const files = problem === undefined ? yield* EmbeddedStore.verifyFiles({ path: folder }) : undefined
    const damagedChanges = log?.damaged ?? 0
    yield* print(json, { ...found, ...files === undefined || files.files === 0 ? {} : { files } }, [
      ...collections.map(collectionLine),
      ...collections.flatMap(({ damaged }) => damaged.map(({ message }) => message)),
      ...collections.filter(({ missing }) => missing > 0).map(({ missing, name }) => `${name}: ${missing} missing`),
      ...log === undefined ? [] : [`The log of changes: ${counted(log.changes, "change")}`],
      ...files === undefined || files.files === 0 ? [] : [
        `${counted(files.files, "file")} of documents${files.isElsewhere ? ", which are kept elsewhere" : ""}`
      ],
      ...files?.missing.map((id) => `The file ${id} is missing`) ?? [],
      ...files?.damaged.map((id) => `The file ${id} is damaged: its checksum is wrong`) ?? [],
      ...damagedChanges === 0 ? [] : [`${counted(damagedChanges, "change")} in the log are damaged`]
    ])
    if (problem !== undefined) return yield* new CommandFailed({ detail: `${folder}: ${problem}` })
    const wrongFiles = files === undefined ? 0 : files.missing.length + files.damaged.length
    if (
      wrongFiles > 0 || damagedChanges > 0 || collections.some(({ damaged, missing }) => damaged.length + missing > 0)
    ) {
      return yield* new CommandFailed({ detail: `${folder} is damaged` })
    }
  }, reported)
).pipe(Command.withDescription("Check a backup, or a folder of the embedded store, by its checksums"))
