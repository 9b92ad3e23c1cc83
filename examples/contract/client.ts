/**
 * A caller of the server of `api.ts`. It loads the description only.
 *
 * `node --conditions=source examples/contract/client.ts http://127.0.0.1:5000`
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { KernelClient } from "appkernel"
import { Console, Effect } from "effect"
import { FetchHttpClient } from "effect/http"
import { api } from "./api.ts"

const program = Effect.gen(function*() {
  const client = yield* KernelClient.make(api, { baseUrl: process.argv[2] ?? "http://127.0.0.1:5000" })
  const { result: id } = yield* client.tasks.create({ payload: { title: "Buy milk", board: "home" } })
  yield* client.tasks.move({ params: { id }, payload: { board: "shop" } })
  const task = yield* client.tasks.finish({ params: { id } })
  yield* Console.log(`${task.title} is done: ${task.done}`)
  yield* client.tasks.finish({ params: { id } }).pipe(
    Effect.catchTag("AlreadyDone", ({ message }) => Console.log(message))
  )
  const more = client.tasks.create({ payload: { title: "Buy bread", board: "shop" } })
  yield* Effect.repeat(more, { times: 9 }).pipe(
    Effect.catchTag("BoardFull", ({ limit, message }) => Console.log(`${message}, ${limit} are open`))
  )
  yield* Console.log(yield* client.boards.progress({ params: { board: "shop" }, query: { title: "bread" } }))
})

program.pipe(Effect.provide(FetchHttpClient.layer), NodeRuntime.runMain)
