/**
 * What the server and its callers share: models, errors and the description of the service. It imports no handler, no
 * store and nothing of Node, so that a browser can load it.
 */
import { KernelApi, Model, Resource, Service, ServiceError, Validator } from "appkernel"
import { Schema } from "effect"

export class Task extends Model.Class<Task>()("Task", {
  id: Model.id({ prefix: "T" }),
  title: Schema.String.pipe(Validator.notEmpty),
  board: Schema.String,
  done: Schema.Boolean.pipe(Model.withDefault(() => false)),
  ...Model.versioned
}) {}

export class BoardFull extends ServiceError<BoardFull>()("BoardFull", {
  status: 409,
  message: "The board takes no more tasks",
  fields: { limit: Schema.Int }
}) {}

export class AlreadyDone extends ServiceError<AlreadyDone>()("AlreadyDone", { status: 409 }) {}

/** `errors` are those of hooks, by method. */
export const TasksApi = Resource.describe(Task, { methods: ["GET", "POST", "DELETE"], errors: { POST: BoardFull } })
  .action("finish", { method: "POST", success: Task, error: AlreadyDone, summary: "Finish a task" })
  .action("move", { payload: { board: Schema.String }, success: Task, summary: "Move a task to another board" })

export const BoardsApi = Service.describe("BoardService")
  .operation("progress", {
    path: "./{board}/progress",
    query: { title: Schema.optionalKey(Schema.String) },
    success: { done: Schema.Int, open: Schema.Int },
    summary: "How many tasks of a board are done"
  })

export const api = KernelApi.make("tasks")
  .register(TasksApi, { urlBase: "/api/v1" })
  .register(BoardsApi, { urlBase: "/api/v1" })
