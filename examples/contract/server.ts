/**
 * The server of `api.ts`. A missing handler does not compile, and neither does one that fails with an undeclared error.
 *
 * `node --conditions=source examples/contract/server.ts`
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { EmbeddedStore, KernelEngine, Repository, Resource, Service } from "appkernel"
import { Effect, Layer } from "effect"
import { AlreadyDone, api, BoardFull, BoardsApi, Task, TasksApi } from "./api.ts"

const limit = 3

const Tasks = Resource.implement(TasksApi, {
  finish: Effect.fnUntraced(function*(task) {
    if (task.done) return yield* new AlreadyDone()
    const tasks = yield* Repository.for(Task)
    return yield* tasks.patch(task.id, { done: true, version: task.version })
  }),
  move: Effect.fnUntraced(function*(task, { payload }) {
    const tasks = yield* Repository.for(Task)
    return yield* tasks.patch(task.id, { board: payload.board, version: task.version })
  })
}).beforePost((task) =>
  Effect.gen(function*() {
    const tasks = yield* Repository.for(Task)
    const open = yield* tasks.count(($) => $.board.equals(task.board).and($.done.equals(false)))
    if (open >= limit) return yield* new BoardFull({ limit })
  })
)

const Boards = Service.implement(BoardsApi, {
  progress: Effect.fnUntraced(function*({ params, query: { title = "" } }) {
    const tasks = yield* Repository.for(Task)
    const all = yield* tasks.count(($) => $.board.equals(params.board).and($.title.contains(title)))
    const done = yield* tasks.count(($) =>
      $.board.equals(params.board).and($.title.contains(title)).and($.done.equals(true))
    )
    return { done, open: all - done }
  })
})

const engine = KernelEngine.fromApi(api, [Tasks, Boards]).enableOpenApi({ title: "Tasks", version: "1.0.0" })

engine.layer.pipe(
  Layer.provide(EmbeddedStore.layer),
  engine.launch,
  NodeRuntime.runMain
)
