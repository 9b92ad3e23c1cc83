import { assert, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Option, Schema } from "effect"
import {
  EntityAddress,
  EntityId,
  EntityType,
  Envelope,
  Message,
  MessageStorage,
  Reply,
  ShardId,
  Snowflake
} from "effect/cluster"
import { Headers } from "effect/http"
import { Rpc, RpcSchema } from "effect/rpc"
import { DocumentStore, Repository } from "../../../src/index.ts"
import { messageIndexes, messages, storedMessages } from "../../../src/Jobs/cluster/messageStorage.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"

/** What Effect's cluster asks of a storage of messages, whichever store it is on: its own suite, and the rest of the port. */
const messageStorageContract = <E>(name: string, store: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  it.layer(Layer.provideMerge(storages, store), { excludeTestServices: true })(`Messages / ${name}`, (it) => {
    it.effect("are given to one reader, in the order in which they were saved, and not after their reply", () =>
      Effect.gen(function*() {
        const storage = yield* MessageStorage.MessageStorage
        const shard = shardOf("order")
        const requests = yield* Effect.forEach([1, 2, 3, 4, 5], (id) => makeRequest({ shard, payload: { id } }))
        for (const request of requests) assert.strictEqual((yield* storage.saveRequest(request))._tag, "Success")
        yield* storage.saveReply(yield* makeReply(requests[0]!))
        assert.deepStrictEqual((yield* storage.unprocessedMessages([shard])).map(payloadOf), [2, 3, 4, 5])
        assert.deepStrictEqual(yield* storage.unprocessedMessages([shard]), [])
        yield* storage.saveRequest(yield* makeRequest({ shard, payload: { id: 6 } }))
        assert.deepStrictEqual((yield* storage.unprocessedMessages([shardOf("another"), shard])).map(payloadOf), [6])
      }))

    it.effect("of one key are one, within a transaction and of many at once", () =>
      Effect.gen(function*() {
        const storage = yield* MessageStorage.MessageStorage
        const shard = shardOf("key")
        const save = Effect.flatMap(
          makeRequest({ shard, rpc: Keyed, payload: Keyed.payloadSchema.make({ id: 1 }) }),
          (request) => storage.saveRequest(request)
        )
        const results = yield* Effect.all([save, save, save, save], { concurrency: 4 })
        assert.deepStrictEqual(results.map(({ _tag }) => _tag).toSorted(), [
          "Duplicate",
          "Duplicate",
          "Duplicate",
          "Success"
        ])
        assert.strictEqual((yield* Repository.transaction(save))._tag, "Duplicate")
        const [first] = yield* storage.unprocessedMessages([shard])
        const known = yield* storage.requestIdForPrimaryKey({
          address: addressOf(shard),
          tag: Keyed._tag,
          id: "1"
        })
        assert.deepStrictEqual(known, Option.some(Snowflake.Snowflake(String(first?.envelope.requestId))))
      }))

    it.effect("are saved with the transaction of their fiber, or never", () =>
      Effect.gen(function*() {
        const storage = yield* MessageStorage.MessageStorage
        const shard = shardOf("transaction")
        const save = (id: number) =>
          Effect.flatMap(makeRequest({ shard, payload: { id } }), (request) => storage.saveRequest(request))
        yield* Effect.flip(Repository.transaction(Effect.andThen(save(1), Effect.fail("no"))))
        yield* Repository.transaction(save(2))
        assert.deepStrictEqual((yield* storage.unprocessedMessages([shard])).map(payloadOf), [2])
      }))

    it.effect("are answered by a transaction that is committed, and by none that was rolled back", () =>
      Effect.gen(function*() {
        const storage = yield* MessageStorage.MessageStorage
        const store = yield* DocumentStore.DocumentStore
        const answers: Array<string> = []
        let attempts = 0
        const request = yield* makeRequest({
          shard: shardOf("conflict"),
          respond: ({ id }) => Effect.sync(() => void answers.push(String(id)))
        })
        yield* storage.saveRequest(request)
        yield* Effect.forkScoped(storage.registerReplyHandler(request), { startImmediately: true })
        const add = store.updateOne("Sum", { _id: "sum" }, { $inc: { sum: 1 } }, { upsert: true })
        yield* add
        const context = yield* Effect.context()
        const handle = Effect.gen(function*() {
          yield* store.find("Sum", { filter: {} })
          // Somebody else comes first.
          if (attempts++ === 0) yield* Effect.setContext(add, context)
          yield* add
          const reply = yield* makeReply(request)
          yield* storage.saveReply(reply)
          return String(reply.reply.id)
        })
        // The cluster begins again after a defect.
        assert.isTrue(Exit.hasDies(yield* Effect.exit(storage.withTransaction(handle))))
        assert.strictEqual(attempts, 1)
        assert.deepStrictEqual(answers, [])
        assert.lengthOf(yield* storage.repliesFor([request]), 0)
        const id = yield* storage.withTransaction(handle)
        assert.deepStrictEqual(answers, [id])
        assert.deepStrictEqual((yield* storage.repliesFor([request])).map((reply) => String(reply.id)), [id])
      }).pipe(Effect.scoped))

    it.effect("that answer in parts wait for the receipt of each part, and end with one last reply", () =>
      Effect.gen(function*() {
        const storage = yield* MessageStorage.MessageStorage
        const shard = shardOf("parts")
        const make = makeRequest({ shard, rpc: Streamed, payload: Streamed.payloadSchema.make({ id: 1 }) })
        const request = yield* make
        yield* storage.saveRequest(request)
        const chunk = yield* makeChunk(request, 0)
        yield* storage.saveReply(chunk)
        assert.lengthOf(yield* storage.unprocessedMessages([shard]), 0)
        yield* storage.saveEnvelope(yield* makeReceipt(request, chunk))
        assert.deepStrictEqual((yield* storage.unprocessedMessages([shard])).map(({ envelope }) => envelope._tag), [
          "Request",
          "AckChunk"
        ])
        yield* storage.saveReply(yield* makeChunk(request, 1))
        const again = yield* storage.saveRequest(yield* make)
        assert.isTrue(again._tag === "Duplicate" && Option.getOrUndefined(again.lastReceivedReply)?._tag === "Chunk")
        assert.lengthOf(yield* storage.repliesFor([request]), 1)
        yield* storage.saveReply(yield* makeReply(request))
        const last = yield* storage.saveRequest(yield* make)
        assert.isTrue(last._tag === "Duplicate" && Option.getOrUndefined(last.lastReceivedReply)?._tag === "WithExit")
        assert.strictEqual((yield* Effect.flip(storage.saveReply(yield* makeReply(request))))._tag, "PersistenceError")
      }))

    it.effect("are not given when they say something of a request that has its last reply", () =>
      Effect.gen(function*() {
        const storage = yield* MessageStorage.MessageStorage
        const shard = shardOf("late")
        const [ended, other] = [yield* makeRequest({ shard }), yield* makeRequest({ shard })]
        for (const request of [ended, other]) yield* storage.saveRequest(request)
        yield* storage.saveReply(yield* makeReply(ended))
        const interrupts = [yield* makeInterrupt(ended), yield* makeInterrupt(ended), yield* makeInterrupt(other)]
        for (const interrupt of interrupts) yield* storage.saveEnvelope(interrupt)
        const [late] = interrupts
        assert.lengthOf(yield* storage.unprocessedMessagesById([late!.envelope.id]), 0)
        const read = Effect.map(
          storage.unprocessedMessages([shard]),
          (found) => found.map(({ envelope }) => [envelope._tag, String(envelope.requestId)])
        )
        const ofOther = [["Request", String(other.envelope.requestId)], ["Interrupt", String(other.envelope.requestId)]]
        assert.deepStrictEqual(yield* read, ofOther)
        yield* storage.resetShards([shard])
        assert.deepStrictEqual(yield* read, ofOther)
      }))

    it.effect("can be read again when their readers are reset, and after their replies were cleared", () =>
      Effect.gen(function*() {
        const storage = yield* MessageStorage.MessageStorage
        const shard = shardOf("reset")
        const request = yield* makeRequest({ shard })
        yield* storage.saveRequest(request)
        const read = Effect.map(storage.unprocessedMessages([shard]), ({ length }) => length)
        for (
          const reset of [
            storage.resetShards([shard]),
            storage.resetAddresses([request.envelope.address]),
            storage.resetRequests([request.envelope.requestId])
          ]
        ) {
          assert.deepStrictEqual([yield* read, yield* read], [1, 0])
          yield* reset
        }
        assert.lengthOf(yield* storage.unprocessedMessagesById([request.envelope.requestId]), 1)
        const reply = yield* makeReply(request)
        yield* storage.saveReply(reply)
        assert.lengthOf(yield* storage.unprocessedMessagesById([request.envelope.requestId]), 0)
        yield* storage.clearReplies(request.envelope.requestId, { expectedReplyId: Snowflake.Snowflake("1") })
        assert.strictEqual(yield* read, 0)
        yield* storage.clearReplies(request.envelope.requestId, { expectedReplyId: reply.reply.id })
        assert.strictEqual(yield* read, 1)
        yield* storage.clearAddress(request.envelope.address)
        yield* storage.resetShards([shard])
        assert.strictEqual(yield* read, 0)
      }))
  })

const storages = Layer.provideMerge(
  Layer.effect(
    MessageStorage.MessageStorage,
    Effect.gen(function*() {
      const store = yield* DocumentStore.DocumentStore
      yield* store.createIndexes(messages, messageIndexes)
      return yield* MessageStorage.makeEncoded(storedMessages(store))
    })
  ),
  Snowflake.layerGenerator
)

const Simple = Rpc.make("Simple", { payload: { id: Schema.Finite } })

const Keyed = Rpc.make("Keyed", { payload: { id: Schema.Finite }, primaryKey: ({ id }) => String(id) })

const Streamed = Rpc.make("Streamed", {
  success: RpcSchema.Stream(Schema.Void, Schema.Never),
  payload: { id: Schema.Finite },
  primaryKey: ({ id }) => String(id)
})

const shardOf = (group: string) => ShardId.make(group, 1)

const addressOf = (shardId: ShardId.ShardId) =>
  EntityAddress.make({ shardId, entityType: EntityType.make(shardId.group), entityId: EntityId.make("1") })

const payloadOf = ({ envelope }: { readonly envelope: object }) => Reflect.get(Reflect.get(envelope, "payload"), "id")

const makeRequest = Effect.fnUntraced(function*(
  { payload = { id: 0 }, respond = () => Effect.void, rpc = Simple, shard }: {
    readonly shard: ShardId.ShardId
    readonly respond?: Request["respond"]
    readonly rpc?: Rpc.AnyWithProps
    readonly payload?: unknown
  }
) {
  const ids = yield* Snowflake.Generator
  return new Message.OutgoingRequest({
    envelope: Envelope.makeRequest<never>({
      requestId: ids.nextUnsafe(),
      address: addressOf(shard),
      tag: rpc._tag as never,
      payload: payload as never,
      headers: Headers.empty
    }),
    annotations: rpc.annotations,
    context: Context.empty(),
    rpc: rpc as never,
    lastReceivedReply: Option.none(),
    respond
  })
})

type Request = Message.OutgoingRequest<never>

const makeReply = Effect.fnUntraced(function*({ context, envelope: { requestId }, rpc }: Request) {
  const id = (yield* Snowflake.Generator).nextUnsafe()
  return new Reply.ReplyWithContext({
    reply: new Reply.WithExit({ id, requestId, exit: Exit.void as never }),
    context,
    rpc
  })
})

const makeChunk = Effect.fnUntraced(function*({ context, envelope: { requestId }, rpc }: Request, sequence: number) {
  const id = (yield* Snowflake.Generator).nextUnsafe()
  return new Reply.ReplyWithContext({
    reply: new Reply.Chunk({ id, requestId, sequence, values: [undefined] as never }),
    context,
    rpc
  })
})

const makeReceipt = Effect.fnUntraced(
  function*({ envelope: { address }, rpc }: Request, { reply }: Reply.ReplyWithContext<Rpc.Any>) {
    const id = (yield* Snowflake.Generator).nextUnsafe()
    return new Message.OutgoingEnvelope({
      envelope: new Envelope.AckChunk({ id, address, requestId: reply.requestId, replyId: reply.id }),
      rpc
    })
  }
)

const makeInterrupt = Effect.fnUntraced(function*({ envelope: { address, requestId }, rpc }: Request) {
  const id = (yield* Snowflake.Generator).nextUnsafe()
  return new Message.OutgoingEnvelope({ envelope: new Envelope.Interrupt({ id, address, requestId }), rpc })
})

storeMatrix(messageStorageContract)
