/**
 * Tells who asks for it the transaction of a write: the time of the server's log at which it stands, which its changes have, too.
 */
import {
  delegatingOperations,
  everyOperation,
  mayHaveChanged,
  type StoreOperations,
  storeOperations,
  WriteReceipt
} from "@appkernel/document-store/shared"
import * as Effect from "effect/Effect"
import type { ClientSession, Timestamp } from "mongodb"
import * as mongo from "../driver/driverCall.ts"

/** The operations of a session; a write whose fiber has a receipt runs in one that notes its time. */
export const withReceipts = (
  session: mongo.MongoSession,
  operationsOf: (session: mongo.MongoSession) => StoreOperations
): StoreOperations => {
  const direct = operationsOf(session)
  const noting = delegatingOperations((use, name) =>
    Effect.withFiber((fiber) => {
      const receipt = fiber.getRef(WriteReceipt)
      if (receipt === undefined) return use(direct)
      return Effect.acquireUseRelease(
        Effect.sync(() => session.startSession()),
        (driverSession) =>
          Effect.map(use(operationsOf({ ...session, transaction: participationOf(driverSession) })), (result) => {
            if (mayHaveChanged(name, result)) receipt.transaction = operationTimeOf(driverSession)
            return result
          }),
        (driverSession) => mongo.cleanUp(() => driverSession.endSession())
      )
    }), (use) => use(direct))
  return everyOperation((name) => (storeOperations[name].privilege === "read" ? direct : noting)[name])
}

/** The time of the last write of a session. */
export const operationTimeOf = ({ operationTime }: ClientSession): string | undefined =>
  operationTime === undefined ? undefined : textOfTime(operationTime)

/** A time of the server's log. */
export const textOfTime = ({ i, t }: Timestamp): string => `${t}.${i}`

// internal

const participationOf = (session: ClientSession): mongo.Participation => ({
  session,
  isTransaction: false,
  serialized: (call) => call,
  note: () => {}
})
