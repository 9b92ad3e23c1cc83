/** The jobs of this framework, on the store in a folder (`BENCH_FOLDER`) or on MongoDB (`MONGO_URL`). */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { EmbeddedStore, Job, KernelEngine, KernelServer, MongoStore } from "appkernel"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { concurrency, takePart } from "./contestant.ts"

const { BENCH_FOLDER: folder = "", MONGO_URL: host } = process.env

const Work = Job.make("work", { payload: { at: Schema.Finite }, concurrency })

await takePart((work) =>
  new Promise((resolve) => {
    const opened = Layer.effectDiscard(KernelServer.whenListening(
      Effect.map(Effect.context<Effect.Services<ReturnType<typeof Work.enqueue>>>(), (context) => {
        const run = Effect.runPromiseWith(context)
        resolve((at) => run(Work.enqueue({ at })))
      })
    ))
    const engine = KernelEngine.make("jobs").register(Work.implement(({ at }) => Effect.sync(() => work(at))))
    const store = host === undefined
      ? EmbeddedStore.layerWith({ path: folder })
      : MongoStore.layerWith({ host, db: "appkernel-bench-jobs" })
    opened.pipe(
      Layer.provide(engine.layerServe),
      Layer.provide([store, KernelServer.layerWith({ address: "127.0.0.1", port: 0 })]),
      engine.launch,
      NodeRuntime.runMain
    )
  })
)
