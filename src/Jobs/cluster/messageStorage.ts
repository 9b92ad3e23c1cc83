/**
 * The messages of Effect's cluster on our stores: its port `MessageStorage.Encoded`, one implementation for all of them. A request is
 * one document with its replies, so that a reply and what it means for its request are one write, and all of it is part of the
 * transaction of the fiber.
 */
import { tooManyConflicts } from "@appkernel/document-store/shared"
import * as Clock from "effect/Clock"
import { PersistenceError } from "effect/cluster/ClusterError"
import type { EntityAddress } from "effect/cluster/EntityAddress"
import type * as Envelope from "effect/cluster/Envelope"
import * as MessageStorage from "effect/cluster/MessageStorage"
import type * as Reply from "effect/cluster/Reply"
import * as ShardId from "effect/cluster/ShardId"
import * as Snowflake from "effect/cluster/Snowflake"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import type { Document, DocumentStore, IndexDescription } from "../../Repository/DocumentStore.ts"
import { type StoreError, StoreUnavailable } from "../../Repository/RepositoryError.ts"

type Store = DocumentStore["Service"]

/** The name of the collection. */
export const messages = "appkernel_messages"

/** The indexes of the collection. */
export const messageIndexes: ReadonlyArray<IndexDescription> = [
  { name: "message_1", key: { message: 1 }, unique: true, sparse: true },
  { name: "shard_1_processed_1_order_1", key: { shard: 1, processed: 1, order: 1 } },
  { name: "request_1_processed_1", key: { request: 1, processed: 1 } },
  { name: "entity_1", key: { entity: 1 } }
]

/** The messages in a store. */
export const storedMessages = (store: Store): MessageStorage.Encoded => {
  const read = (filter: Document, limit?: number) =>
    Effect.map(
      store.find(messages, { filter, sort: { order: 1, _id: 1 }, ...(limit !== undefined && { limit }) }),
      (found) => found.map((document) => decodeMessage(document))
    )

  /** What was said about requests that have their last reply, as an interrupt that came too late. */
  const late = Effect.fnUntraced(function*(
    found: ReadonlyArray<typeof StoredMessage.Type>
  ): Effect.fn.Return<ReadonlyArray<string>, StoreError> {
    const said = found.filter(({ type }) => type !== "Request")
    if (said.length === 0) return []
    const ended = yield* read({ _id: { $in: said.map(({ request }) => request) }, processed: true })
    const ids = new Set(ended.map(({ _id }) => _id))
    return said.filter(({ request }) => ids.has(request)).map(({ _id }) => _id)
  })

  const release = (filter: Document) =>
    PersistenceError.refail(
      Effect.asVoid(store.updateMany(messages, { ...filter, processed: false }, { $unset: { read: "" } }))
    )

  const save = Effect.fnUntraced(function*(
    envelope: Envelope.Encoded,
    primaryKey: string | null,
    deliverAt: number | null
  ): Effect.fn.Return<MessageStorage.SaveResult.Encoded, StoreError> {
    const id = envelope._tag === "Request" ? envelope.requestId : envelope.id
    const type = envelope._tag
    const document = {
      type,
      request: envelope.requestId,
      shard: ShardId.toString(envelope.address.shardId),
      entity: entityOf(envelope.address),
      envelope: JSON.stringify(envelope),
      order: yield* Clock.currentTimeMillis,
      processed: false,
      ...(deliverAt !== null && { deliverAt }),
      ...(type === "Request" && { open: 0, replies: [] })
    }
    const filter = primaryKey === null ? { _id: id } : { message: primaryKey }
    // A second one of a key is no failure, with which a transaction would end.
    const { upsertedId } = yield* store.updateOne(
      messages,
      filter,
      { $setOnInsert: primaryKey === null ? document : { _id: id, ...document } },
      { upsert: true }
    ).pipe(Effect.catchTag("DuplicateKey", () => Effect.succeed({ upsertedId: undefined })))
    if (upsertedId !== undefined) return MessageStorage.SaveResultEncoded.Success()
    const [known] = yield* read(filter)
    return known === undefined ?
      MessageStorage.SaveResultEncoded.Success() :
      MessageStorage.SaveResultEncoded.Duplicate({
        originalId: Snowflake.Snowflake(known._id),
        lastReceivedReply: lastReplyOf(known)
      })
  })

  /** A chunk has been received: its request goes on, and what was said of earlier ones has no meaning any more. */
  const acknowledge = ({ replyId, requestId }: Envelope.AckChunkEncoded) =>
    Effect.andThen(
      store.updateOne(
        messages,
        { _id: requestId, replies: { $elemMatch: { id: replyId, isOpen: true } } },
        { $set: { "replies.$.isOpen": false }, $inc: { open: -1 } }
      ),
      store.updateMany(messages, { request: requestId, type: "AckChunk", processed: false }, {
        $set: { processed: true }
      })
    )

  return {
    saveEnvelope: ({ deliverAt, envelope, primaryKey }) => {
      const saved = save(envelope, primaryKey, deliverAt)
      return PersistenceError.refail(
        envelope._tag === "AckChunk" ? store.transaction(Effect.andThen(acknowledge(envelope), saved)) : saved
      )
    },
    saveReply: (reply) =>
      PersistenceError.refail(store.transaction(Effect.gen(function*() {
        const isLast = reply._tag === "WithExit"
        const { id, requestId } = reply
        const { matchedCount } = yield* store.updateOne(
          messages,
          { _id: requestId, "replies.id": { $ne: id }, "replies.isLast": { $ne: true } },
          {
            $push: { replies: { id, isLast, isOpen: !isLast, reply: JSON.stringify(reply) } },
            $set: { last: id, ...(isLast && { processed: true }) },
            ...(isLast ? { $unset: { read: "" } } : { $inc: { open: 1 } })
          }
        )
        if (matchedCount === 0) {
          const [request] = yield* read({ _id: requestId })
          if (request === undefined || request.replies?.some((one) => one.id === id) === true) return
          return yield* new StoreUnavailable({
            operation: "saveReply",
            detail: "the request has its last reply already",
            retryable: false
          })
        }
        if (isLast) {
          yield* store.updateMany(messages, { request: requestId, processed: false }, { $set: { processed: true } })
        }
      }))),
    clearReplies: (requestId, options) => {
      // The condition is part of the write, so that nobody comes between.
      const expected = options?.expectedReplyId
      const cleared = store.updateOne(
        messages,
        { _id: String(requestId), ...(expected !== undefined && { last: String(expected) }) },
        { $pull: { replies: { isLast: true } }, $set: { processed: false }, $unset: { read: "", last: "" } }
      )
      return PersistenceError.refail(Effect.asVoid(cleared))
    },
    requestIdForPrimaryKey: (message) =>
      PersistenceError.refail(
        Effect.map(read({ message }), ([found]) =>
          Option.map(Option.fromUndefinedOr(found), ({ _id }) => Snowflake.Snowflake(_id)))
      ),
    repliesFor: (requestIds) =>
      PersistenceError.refail(
        Effect.map(read({ _id: { $in: [...requestIds] } }), (found) =>
          found.flatMap(({ replies = [] }) =>
            replies.filter(({ isLast, isOpen }) =>
              isLast || isOpen
            ).map((one) => replyIn(one))
          ))
      ),
    repliesForUnfiltered: (requestIds) =>
      PersistenceError.refail(
        Effect.map(read({ _id: { $in: [...requestIds] } }), (found) =>
          found.flatMap(({ replies = [] }) => replies.map((one) => replyIn(one))))
      ),
    unprocessedMessages: (shardIds, now, options) =>
      options?.addresses?.length === 0
        ? Effect.succeed([])
        : PersistenceError.refail(store.transaction(Effect.gen(function*() {
          const unread = read({
            $and: [
              { shard: { $in: [...shardIds] } },
              deliverable(now),
              { $or: [{ read: null }, { read: { $lte: now - claimTime } }] },
              ...options?.addresses === undefined ? [] : [{ entity: { $in: options.addresses.map(entityOf) } }]
            ]
          }, options?.limit)
          let found = yield* unread
          for (let ids = yield* late(found); ids.length > 0; ids = yield* late(found)) {
            yield* store.updateMany(messages, { _id: { $in: ids } }, { $set: { processed: true } })
            found = yield* unread
          }
          if (found.length > 0) {
            yield* store.updateMany(messages, { _id: { $in: found.map(({ _id }) => _id) } }, { $set: { read: now } })
          }
          return found.map((one) => deliveryOf(one))
        }))),
    unprocessedMessagesById: (ids, now) =>
      PersistenceError.refail(Effect.gen(function*() {
        const found = yield* read({ $and: [{ _id: { $in: Array.from(ids, String) } }, deliverable(now)] })
        const without = new Set(yield* late(found))
        return found.filter(({ _id }) => !without.has(_id)).map((one) => deliveryOf(one))
      })),
    resetRequests: (ids) => ids.length === 0 ? Effect.void : release({ _id: { $in: Array.from(ids, String) } }),
    resetAddresses: (addresses) =>
      addresses.length === 0 ? Effect.void : release({ entity: { $in: addresses.map(entityOf) } }),
    clearAddress: (address) =>
      PersistenceError.refail(Effect.asVoid(store.deleteMany(messages, { entity: entityOf(address) }))),
    resetShards: (shardIds) => release({ shard: { $in: [...shardIds] } }),
    // Whoever runs a message knows its failures; those of the store are defects there.
    withTransaction: (effect) =>
      Effect.suspend(() => {
        let isFirst = true
        const once = Effect.suspend(() => {
          // The cluster would give callers the replies of all attempts. It begins again itself after a defect.
          if (!isFirst) return Effect.die(tooManyConflicts())
          isFirst = false
          return Effect.mapError(effect, (error) => new Failed(error))
        })
        return Effect.catch(
          store.transaction(once),
          (error) => error instanceof Failed ? Effect.fail(error.error) : Effect.die(error)
        )
      })
  }
}

// internal

/** A failure of what runs in a transaction, apart from those of the store. */
class Failed<E> {
  readonly error: E
  constructor(error: E) {
    this.error = error
  }
}

/** How long a message is its reader's, in milliseconds: as long as in Effect's other storages. */
const claimTime = 10 * 60_000

const StoredReply = Schema.Struct({
  id: Schema.String,
  isLast: Schema.Boolean,
  isOpen: Schema.Boolean,
  reply: Schema.String
})

const StoredMessage = Schema.Struct({
  _id: Schema.String,
  type: Schema.String,
  request: Schema.String,
  envelope: Schema.String,
  replies: Schema.optional(Schema.Array(StoredReply))
})

const decodeMessage: (document: Document) => typeof StoredMessage.Type = SchemaParser.decodeUnknownSync(StoredMessage)

const deliverable = (now: number): Document => ({
  processed: false,
  open: { $not: { $gt: 0 } },
  $or: [{ deliverAt: null }, { deliverAt: { $lte: now } }]
})

// What the store has is what it was given.
const replyIn = ({ reply }: typeof StoredReply.Type) => JSON.parse(reply) as Reply.Encoded

const lastReplyOf = ({ replies = [] }: typeof StoredMessage.Type): Option.Option<Reply.Encoded> =>
  Option.map(Option.fromUndefinedOr(replies.at(-1)), (one) => replyIn(one))

const deliveryOf = (message: typeof StoredMessage.Type) => ({
  // As above.
  envelope: JSON.parse(message.envelope) as Envelope.Encoded,
  lastSentReply: lastReplyOf(message)
})

const entityOf = (
  { entityId, entityType }: { readonly entityType: string; readonly entityId: string } | EntityAddress
) => `${entityType}/${entityId}`
