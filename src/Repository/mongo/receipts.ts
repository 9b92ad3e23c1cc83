/**
 * Tells who asks for it the transaction of a write: the time of the server's log at which it stands, which its changes have, too.
 */
import { type StoreOperations, WriteReceipt } from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import type { ClientSession, Timestamp } from "mongodb"
import type { UpdateResult } from "../DocumentStore.ts"
import * as mongo from "./driverCall.ts"

/** The operations of a session; a write whose fiber has a receipt runs in one that notes its time. */
export const withReceipts = (
  session: mongo.MongoSession,
  operationsOf: (session: mongo.MongoSession) => StoreOperations
): StoreOperations => {
  const direct = operationsOf(session)
  const noted = <A, E>(
    use: (operations: StoreOperations) => Effect.Effect<A, E>,
    hasChanged: (result: A) => boolean
  ): Effect.Effect<A, E> =>
    Effect.withFiber((fiber) => {
      const receipt = fiber.getRef(WriteReceipt)
      if (receipt === undefined) return use(direct)
      return Effect.acquireUseRelease(
        Effect.sync(() => session.startSession()),
        (driverSession) =>
          Effect.map(use(operationsOf({ ...session, transaction: participationOf(driverSession) })), (result) => {
            if (hasChanged(result)) receipt.transaction = timeOf(driverSession)
            return result
          }),
        (driverSession) => mongo.cleanUp(() => driverSession.endSession())
      )
    })
  return {
    ...direct,
    insertOne: (...args) => noted((_) => _.insertOne(...args), () => true),
    insertMany: (...args) => noted((_) => _.insertMany(...args), ({ insertedCount }) => insertedCount > 0),
    replaceOne: (...args) => noted((_) => _.replaceOne(...args), isUpdated),
    updateOne: (...args) => noted((_) => _.updateOne(...args), isUpdated),
    updateMany: (...args) => noted((_) => _.updateMany(...args), isUpdated),
    findOneAndUpdate: (...args) => noted((_) => _.findOneAndUpdate(...args), () => true),
    findOneAndReplace: (...args) => noted((_) => _.findOneAndReplace(...args), () => true),
    findOneAndDelete: (...args) => noted((_) => _.findOneAndDelete(...args), (found) => found !== undefined),
    deleteOne: (...args) => noted((_) => _.deleteOne(...args), (count) => count > 0),
    deleteMany: (...args) => noted((_) => _.deleteMany(...args), (count) => count > 0)
  }
}

/** The time of the last write of a session. */
export const timeOf = ({ operationTime }: ClientSession): string | undefined =>
  operationTime === undefined ? undefined : textOfTime(operationTime)

/** A time of the server's log. */
export const textOfTime = ({ i, t }: Timestamp): string => `${t}.${i}`

// internal

const isUpdated = ({ modifiedCount, upsertedId }: UpdateResult): boolean =>
  modifiedCount > 0 || upsertedId !== undefined

const participationOf = (session: ClientSession): mongo.Participation => ({
  session,
  serialized: (call) => call,
  note: () => {}
})
