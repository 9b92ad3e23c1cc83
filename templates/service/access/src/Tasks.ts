import { Authenticated, Repository, Resource, ServiceError } from "appkernel"
import { Effect } from "effect"
import { Task } from "./models/Task.ts"

export class AlreadyDone extends ServiceError<AlreadyDone>()("AlreadyDone", {
  status: 409,
  message: "The task is done already"
}) {}

export const Tasks = Resource.make(Task, { methods: ["GET", "POST", "PATCH", "DELETE"] })
  // POST /api/v1/tasks/:id/finish, besides the methods of the resource.
  .action("finish", { method: "POST", success: Task, error: AlreadyDone }, (task) =>
    Effect.gen(function*() {
      if (task.state === "done") return yield* new AlreadyDone()
      const tasks = yield* Repository.for(Task)
      return yield* tasks.patch(task.id, { state: "done", version: task.version })
    }))
  // Everybody who has signed in reaches their own tasks, and no others.
  .grant(Authenticated, { rows: (me) => ($) => $.owner.equals(me.subject) })
