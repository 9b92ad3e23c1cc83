/**
 * A program that fills a folder (`FOLDER`) with documents of a given size (`COUNT` of `SIZE` characters), or serves them
 * (`TASK`). It prints the port of the service. `GET /stats` returns the process's peak of private memory in MB, and the
 * longest turn of the event loop in milliseconds of CPU time, since the previous call.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import * as fs from "node:fs"
import { DocumentStore } from "../../packages/document-store/src/DocumentStore.ts"
import * as KernelConfig from "../../src/Http/KernelConfig.ts"
import * as KernelEngine from "../../src/Http/KernelEngine.ts"
import * as KernelServer from "../../src/Http/KernelServer.ts"
import * as Service from "../../src/Http/Service.ts"
import * as Model from "../../src/Model/Model.ts"
import * as EmbeddedStore from "../../src/Repository/EmbeddedStore.ts"
import { threadTime } from "./turns.ts"

const { COUNT: count = "0", FOLDER: path = "", SIZE: size = "0", TASK: task = "" } = process.env

class Large extends Model.Class<Large>()("Large", { id: Schema.String, n: Schema.Int, text: Schema.String }) {}

const store = EmbeddedStore.layerWith({ path })

const fill = Effect.gen(function*() {
  const { insertOne } = yield* DocumentStore
  for (let n = 0; n < Number(count); n++) {
    yield* insertOne("Large", { _id: `${n}`.padStart(6, "0"), n, text: `${n % 10}`.repeat(Number(size)) })
  }
})

let [own, held, before] = [0, 0, threadTime()]
const look = () => {
  const now = threadTime()
  held = Math.max(held, now - before)
  const memory = /^RssAnon:\s+(\d+) kB$/m.exec(fs.readFileSync("/proc/self/status", "utf8"))?.[1]
  own = Math.max(own, Number(memory) / 1024)
  before = threadTime()
}
setInterval(look, 1).unref()

const stats = HttpRouter.add("GET", "/stats", () =>
  Effect.sync(() => {
    look()
    const answer = HttpServerResponse.jsonUnsafe({ own: Math.round(own), held: Math.round(held) })
    own = 0
    held = 0
    return answer
  }))

const texts = Service.make("TextService").operation(
  "many",
  { method: "GET", path: "./many/{count}", success: Schema.Array(Schema.String) },
  ({ params }) => Effect.succeed(Array.from({ length: Number(params.count) }, () => "x".repeat(Number(size))))
)

const engine = KernelEngine.make("large").register(Large, { methods: ["GET"] }).register(texts).use(stats)

const listening = Effect.flatMap(
  HttpServer.HttpServer,
  ({ address }) => Effect.sync(() => process.stdout.write(`listening ${"port" in address ? address.port : 0}\n`))
)

const serve = Layer.launch(
  Layer.effectDiscard(listening).pipe(
    Layer.provide(engine.layerServe),
    Layer.provide(KernelServer.layerWith({ address: "127.0.0.1", port: 0 }))
  )
)

const { context } = await Effect.runPromise(Effect.provide(KernelConfig.load(), NodeFileSystem.layer))

await Effect.runPromise(
  (task === "fill" ? fill : serve).pipe(Effect.provide(store), Effect.provideContext(context))
)
