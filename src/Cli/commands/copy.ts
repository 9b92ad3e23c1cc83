/**
 * `appkernel copy`: copies a store into another one.
 */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import type { DocumentStore } from "../../Repository/DocumentStore.ts"
import * as EmbeddedStore from "../../Repository/EmbeddedStore.ts"
import * as MongoStore from "../../Repository/MongoStore.ts"
import * as StoreCopy from "../../Repository/StoreCopy.ts"
import { CommandFailed, reported } from "./commandFailed.ts"
import { counted, jsonFlag, makeProgress, print } from "./output.ts"

/** @internal */
export const copy = Command.make(
  "copy",
  {
    from: Argument.String("from").pipe(
      Argument.withDescription("The source: a folder, a URL mongodb://…, or env:NAME for what the variable NAME has")
    ),
    to: Argument.String("to").pipe(Argument.withDescription("The target, in the same way. It has no documents yet")),
    json: jsonFlag
  },
  Effect.fnUntraced(
    function*({ from, json, to }) {
      const files = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const [source, target] = [yield* addressOf(from), yield* addressOf(to)]
      if (!isUrl(source) && !(yield* files.exists(path.join(source, "data.mdb")))) {
        return yield* new CommandFailed({ detail: `There is no store in ${source}` })
      }
      const [fromStore, toStore] = [yield* open(source), yield* open(target)]
      if (fromStore.description === toStore.description) {
        return yield* new CommandFailed({ detail: "The source and the target are the same", code: 2 })
      }
      const progress = yield* makeProgress
      const copied = yield* StoreCopy.copy({
        from: fromStore,
        to: toStore,
        onProgress: ({ collection, done, total }) =>
          progress(`${collection}: ${done.toLocaleString("en")} of ${total.toLocaleString("en")}`)
      })
      const logged = yield* Effect.filter(copied, ({ name }) => isLogged(fromStore, name))
      yield* print(json, { from: fromStore.description, to: toStore.description, collections: copied }, [
        ...copied.map(({ documents, hash, indexes, name }) =>
          `${name}: ${counted(documents, "document")}, ${counted(indexes.length, "index", "indexes")}, ${hash}`
        ),
        `${toStore.description} has what ${fromStore.description} has`,
        ...logged.length === 0 ? [] : [
          `The log of changes begins anew there: who follows ${
            logged.map(({ name }) => name).join(", ")
          } reads a snapshot first`
        ]
      ])
    },
    Effect.scoped,
    reported
  )
).pipe(
  Command.withDescription("Copy a store with its indexes and histories into an empty one, and compare both"),
  Command.withExamples([{
    command: "appkernel copy ./data mongodb://localhost:27017/shop",
    description: "Move from the embedded store to MongoDB"
  }])
)

// internal

const isUrl = (address: string): boolean => /^mongodb(\+srv)?:\/\//u.test(address)

const addressOf = (given: string) =>
  given.startsWith("env:")
    ? Effect.mapError(
      Effect.map(Effect.suspend(() => Config.Redacted(given.slice("env:".length))), Redacted.value),
      () => new CommandFailed({ detail: `There is no variable ${given.slice("env:".length)}` })
    )
    : Effect.succeed(given)

/** Whether the changes of a collection are recorded. */
const isLogged = (store: DocumentStore["Service"], collection: string) =>
  Effect.flatMap(store.changes.end, (after) => store.changes.read([collection], { after, limit: 1 })).pipe(
    Effect.as(true),
    Effect.catch(() => Effect.succeed(false))
  )

const open = (address: string) =>
  isUrl(address)
    ? MongoStore.make({ host: Redacted.make(address) })
    : EmbeddedStore.make({ path: address })
