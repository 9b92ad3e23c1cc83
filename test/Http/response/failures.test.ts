import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Logger, Schema } from "effect"
import { HttpServer } from "effect/http"
import { connect } from "node:net"
import { DocumentStore, EmbeddedStore, KernelEngine, Model, Resource } from "../../../src/index.ts"
import { refused, send, serving } from "../../support/rest.ts"

class Thing extends Model.Class<Thing>()("Thing", { id: Model.id(), name: Schema.String }) {}

const begun = Deferred.makeUnsafe<void>()
const interrupted = Deferred.makeUnsafe<void>()

/** What types don't allow, and a program without types does. */
const engine = KernelEngine.make("settled").register(
  Resource.make(Thing, { methods: ["GET", "POST"] })
    .beforePost(() => Effect.fail({ _tag: "Unknown", message: "inside" }) as never)
    .action("text", {}, () => Effect.fail("inside") as never)
    .action("nothing", {}, () => Effect.fail(undefined) as never)
    .action("tagged", {}, () => Effect.fail({ _tag: "Inside" }) as never)
    .action("throws", {}, () => {
      throw new Error("inside")
    })
    .action("other", { success: Schema.Int }, () => Effect.succeed("inside" as never))
    .action("several", { success: Schema.Array(Thing) }, () => Effect.succeed([{ inside: 1 }] as never))
    .action("none", { success: Thing }, () => Effect.succeed(undefined as never))
    .action("interrupts", {}, () => Effect.interrupt)
    .action("waits", {}, () =>
      Effect.onInterrupt(
        Effect.andThen(Deferred.succeed(begun, undefined), Effect.never),
        () => Deferred.succeed(interrupted, undefined)
      ))
)

/** Asks, and goes away before there is an answer. */
const leaving = Effect.gen(function*() {
  const { address } = yield* HttpServer.HttpServer
  const socket = connect("port" in address ? address.port : 0, "127.0.0.1", () => {
    socket.write("GET /things/T/waits HTTP/1.1\r\nHost: x\r\n\r\n")
  })
  yield* Deferred.await(begun)
  socket.destroy()
  yield* Deferred.await(interrupted)
})

it.effect("every defect of an application's code is a logged 500 without internal details", () => {
  const logged: Array<string> = []
  const logger = Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void logged.push(line))])
  return Effect.gen(function*() {
    const { insertOne } = yield* DocumentStore.DocumentStore
    yield* insertOne("Thing", { _id: "T", name: "x" })
    const paths = ["text", "nothing", "tagged", "throws", "other", "several", "none", "interrupts"]
    for (
      const answer of [
        yield* send("POST", "/things", { name: "x" }),
        ...(yield* Effect.forEach(paths, (path) => send("GET", `/things/T/${path}`)))
      ]
    ) {
      refused(500, answer)
      assert.notMatch(answer.text, /inside/iu)
      assert.include(logged.join("\n"), String(answer.headers["x-request-id"]))
    }
    assert.strictEqual(logged.length, 1 + paths.length)
    yield* leaving
    assert.strictEqual(logged.length, 1 + paths.length)
    assert.strictEqual((yield* send("GET", "/things/T")).status, 200)
  }).pipe(Effect.provide(Layer.provideMerge(serving(engine, EmbeddedStore.layerMemory), logger)))
})
