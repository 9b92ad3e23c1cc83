import { assert, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { type DocumentStore, KernelEngine, Model } from "../../../src/index.ts"
import { messagesIn, nextData, openedStream } from "../../support/eventStream.ts"
import { storeMatrix, storesWithImages } from "../../support/storeMatrix.ts"
import { changesContract } from "./changesRoute.contract.ts"

class Booking extends Model.Class<Booking>()("Booking", { id: Model.id() }, { logged: true }) {}
class Tool extends Model.Class<Tool>()("Tool", { id: Model.id(), lent: Schema.Int }) {}

const mixedTransactions = <E>(name: string, layer: Layer.Layer<DocumentStore.DocumentStore, E>) =>
  it.live(`goes on after transactions that update documents of other models, too / ${name}`, () =>
    Effect.gen(function*() {
      const engine = KernelEngine.make("rental").register(Booking, { methods: ["GET", "POST"] }).register(Tool)
      const { baseUrl, store } = yield* engine.test({ store: Layer.fresh(Layer.orDie(layer)) })
      yield* store.insertOne("Tool", { _id: "saw", lent: 0 })
      const stream = yield* openedStream(`${baseUrl}/bookings/changes?live=sse&offset=now`)
      yield* stream.next
      for (const id of ["a", "b", "c"]) {
        yield* store.transaction(Effect.andThen(
          store.updateOne("Tool", { _id: "saw" }, { $inc: { lent: 1 } }),
          store.insertOne("Booking", { _id: id })
        ))
        assert.deepStrictEqual(messagesIn(yield* nextData(stream)).map(({ key }) => key), [id])
      }
    }).pipe(Effect.scoped))

storesWithImages(changesContract)
storeMatrix(mixedTransactions)
