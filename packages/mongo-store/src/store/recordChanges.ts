/** Lets a server of MongoDB record the changes of collections, and says if it can't. */
import type { ChangePage, Position } from "@appkernel/document-store/DocumentStore"
import { type PositionGone, type ReadError, Unsupported } from "@appkernel/document-store/StoreError"
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import * as mongo from "../driver/driverCall.ts"
import { recordImages } from "./collectionAdmin.ts"

/**
 * The function that makes the server record a collection. Its first call tests whether the server delivers changes as
 * expected.
 */
export const recorder = (
  session: mongo.MongoSession,
  end: Effect.Effect<Position, ReadError>,
  read: (collection: string, after: Position) => Effect.Effect<ChangePage, ReadError | PositionGone>
): (collection: string) => Effect.Effect<void, ReadError> => {
  let isTried = false
  /** Tests in a temporary collection whether each change comes with the document as the change left it. */
  const tried: Effect.Effect<void, ReadError> = Effect.gen(function*() {
    const call = { session, operation: "record", collection: `appkernel_changes_${randomUUID()}` }
    const written = Effect.andThen(
      recordImages(call),
      mongo.write(call, (trial) =>
        trial.insertOne({ n: 0 })
          .then(() => trial.updateOne({}, { $set: { n: 1 } }))
          .then(() => trial.updateOne({}, { $set: { n: 2 } })))
    )
    yield* Effect.gen(function*(): Effect.fn.Return<void, ReadError> {
      const start = yield* end
      // A user who may not create collections gets no test.
      if (!(yield* Effect.isSuccess(written))) return
      const states = yield* read(call.collection, start).pipe(
        Effect.map(({ changes }) => changes.map((one) => one.operation === "delete" ? "-" : one.after["n"]).join(", ")),
        Effect.catchTag("PositionGone", () => Effect.succeed(""))
      )
      if (states !== "0, 1, 2") yield* Effect.logWarning(warningOf(states))
    }).pipe(Effect.ensuring(Effect.ignore(mongo.remove(call, (trial) => trial.drop()))))
    isTried = true
  })
  return (collection) => {
    const call = { session, operation: "record", collection }
    return Effect.gen(function*() {
      const isReplicated = yield* mongo.read(
        call,
        ({ db }, signal) =>
          db.command({ hello: 1 }, { signal }).then(({ msg, setName }) => setName !== undefined || msg === "isdbgrid")
      )
      if (!isReplicated) return yield* unsupported(collection, "the server is no member of a replica set")
      yield* recordImages(call).pipe(
        Effect.andThen(Effect.suspend(() => isTried ? Effect.void : tried)),
        Effect.catchTag("QueryRejected", ({ detail }) => unsupported(collection, detail))
      )
    })
  }
}

// internal

const unsupported = (collection: string, reason: string) =>
  new Unsupported({
    operation: "record",
    feature: `a log of the changes of "${collection}", which needs a replica set of MongoDB 6.0 or newer: ${reason}`
  })

const warningOf = (states: string): string =>
  "This server tells changes of documents wrongly, and so do streams and the logs of changes: the states 0, 1, 2 of a document " +
  `came as ${states === "" ? "none" : states}. MongoDB 6.0 and newer tells them as they were`
