/** `appkernel copy`: copies a store into another one. */
import { openLog, StoreCopy, StoreFollow } from "@appkernel/embedded-store/internal"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { hash } from "node:crypto"
import * as fs from "node:fs"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import * as EmbeddedStore from "../../Repository/EmbeddedStore.ts"
import * as MongoStore from "../../Repository/MongoStore.ts"
import type { StoreUnavailable } from "../../Repository/RepositoryError.ts"
import { withConfig } from "./engineModule.ts"
import { folderPath } from "./folder.ts"
import { CommandFailed, counted, jsonFlag, makeProgress, print, reported, switchFlag } from "./output.ts"

export const copyCommand = Command.make(
  "copy",
  {
    from: Argument.String("from").pipe(
      Argument.withDescription("The source: a folder, a URL mongodb://…, or env:NAME for what the variable NAME has")
    ),
    to: Argument.String("to").pipe(Argument.withDescription("The target, in the same way. It has no documents yet")),
    follow: switchFlag(
      "follow",
      "Copies while a service writes to the source, and then what it writes, until it is interrupted"
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(
    function*({ follow, from, json, to }) {
      const files = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const [source, target] = [yield* addressOf(from), yield* addressOf(to)]
      if (!isUrl(source) && !(yield* files.exists(path.join(source, "data.mdb")))) {
        return yield* new CommandFailed({ detail: `There is no store in ${source}` })
      }
      if (source === target || (!isUrl(target) && path.resolve(source) === path.resolve(target))) return yield* same
      // A source that can't be opened leaves no new store behind.
      const fromStore = follow && !isUrl(source) ? undefined : yield* open(source)
      const toStore = yield* open(target)
      if (fromStore === undefined) {
        const used = yield* folderInUse(path.resolve(source), toStore)
        return yield* followed(used, toStore, json)
      }
      if (fromStore.description === toStore.description) return yield* same
      yield* follow ? followed(StoreFollow.openStore(fromStore), toStore, json) : copied(fromStore, toStore, json)
    },
    Effect.scoped,
    reported
  )
).pipe(
  Command.withDescription("Copy a store with its indexes and histories into an empty one, and compare both"),
  Command.withExamples([{
    command: "appkernel copy ./data mongodb://localhost:27017/shop",
    description: "Move from the embedded store to MongoDB"
  }, {
    command: "appkernel copy --follow ./data mongodb://localhost:27017/shop",
    description: "The same while the service runs, and then what it writes"
  }])
)

// internal

type Store = DocumentStore["Service"]

const same = new CommandFailed({ detail: "The source and the target are the same", code: 2 })

/**
 * A folder that another process may have open. Its snapshot is a backup beside it, which takes as much space, and is removed
 * when the scope closes, or else by the next run for this target.
 */
const folderInUse = Effect.fnUntraced(function*(
  location: string,
  target: Store
): Effect.fn.Return<StoreFollow.Source, StoreUnavailable, Scope.Scope> {
  const { collections, ...changes } = yield* openLog(location)
  const to = `${location}.copy-${hash("sha256", target.description).slice(0, 8)}`
  const clear = Effect.sync(() => fs.rmSync(to, { recursive: true, force: true }))
  return {
    description: `the embedded store in folder ${location}`,
    changes,
    collections,
    snapshot: Effect.gen(function*() {
      yield* Effect.acquireRelease(clear, () => clear)
      yield* EmbeddedStore.backupDocuments({ path: location, to })
      return yield* EmbeddedStore.make({ path: to })
    })
  }
})

const showing =
  (progress: (text: string) => Effect.Effect<void>) => ({ collection, done, total }: StoreCopy.CopyProgress) =>
    progress(`${collection}: ${done.toLocaleString("en")} of ${total.toLocaleString("en")}`)

const copied = Effect.fnUntraced(function*(from: Store, to: Store, json: boolean) {
  const collections = yield* StoreCopy.copy({ from, to, onProgress: showing(yield* makeProgress) })
  const { files, missing } = yield* EmbeddedStore.copyFiles(from, to)
  const logged = yield* Effect.filter(collections, ({ name }) => StoreFollow.isLogged(from.changes, name))
  yield* print(json, {
    from: from.description,
    to: to.description,
    collections,
    ...files + missing === 0 ? {} : { files, missing }
  }, [
    ...collections.map(({ documents, hash, indexes, name }) =>
      `${name}: ${counted(documents, "document")}, ${counted(indexes.length, "index", "indexes")}, ${hash}`
    ),
    ...files === 0 ? [] : [`${counted(files, "file")} of documents`],
    ...missing === 0 ? [] : [`${counted(missing, "file")} of documents are kept elsewhere, or missing in the source`],
    `${to.description} has what ${from.description} has`,
    ...logged.length === 0 ? [] : [
      `The log of changes begins anew there: who follows ${
        logged.map(({ name }) => name).join(", ")
      } reads a snapshot first`
    ]
  ])
})

/** Follows until a signal interrupts it, and then says how far that is. */
const followed = Effect.fnUntraced(function*(from: StoreFollow.Source, to: Store, json: boolean) {
  const progress = yield* makeProgress
  let last: StoreFollow.Following | undefined
  return yield* StoreFollow.follow({
    from,
    to,
    onProgress: showing(progress),
    onFollowing: Effect.fnUntraced(function*(now) {
      if (last === undefined) {
        yield* Console.error(`Following ${now.followed.join(", ")}`)
        if (now.others.length > 0) yield* Console.error(unloggedLine(now))
      }
      const isNews = now.changes !== last?.changes || (now.behind === 0) !== (last.behind === 0)
      last = now
      if (now.behind === 0 && isNews) yield* Console.error(followingText(now))
      else if (isNews) yield* progress(followingText(now))
    })
  }).pipe(
    Effect.onInterrupt(() =>
      print(json, { from: from.description, to: to.description, ...last }, [
        last === undefined ? "The copy has not been made yet" : followingText(last),
        "Run the command again to go on; without --follow, once nobody writes to the source, to complete the copy"
      ])
    )
  )
})

const followingText = ({ behind, changes }: StoreFollow.Following): string =>
  `${counted(changes, "change")} applied, ${behind === 0 ? "up to date" : `${(behind / 1000).toFixed(1)} s behind`}`

const unloggedLine = ({ others }: StoreFollow.Following): string =>
  `Not logged, and so as they were when they were copied: ${
    others.join(", ")
  }. The run that completes the copy brings the rest`

const isUrl = (address: string): boolean => /^mongodb(\+srv)?:\/\//u.test(address)

const addressOf = Effect.fnUntraced(function*(given: string) {
  const address = given.startsWith("env:")
    ? yield* Effect.mapError(
      Effect.map(Effect.suspend(() => Config.Redacted(given.slice("env:".length))), Redacted.value),
      () => new CommandFailed({ detail: `There is no variable ${given.slice("env:".length)}` })
    )
    : given
  return isUrl(address) ? address : yield* folderPath(address)
})

const open = (address: string) =>
  isUrl(address)
    ? MongoStore.make({ host: Redacted.make(address) })
    : withConfig(EmbeddedStore.make({ path: address }))
