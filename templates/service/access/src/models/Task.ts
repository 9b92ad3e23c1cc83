import { Generator, Index, Model, Validator } from "appkernel"
import { Schema } from "effect"
import { Project } from "./Project.ts"

export class Task extends Model.Class<Task>()("Task", {
  id: Model.id({ prefix: "T" }),
  owner: Schema.String.pipe(Model.generated(Generator.currentUserId), Model.readOnly, Model.indexed(Index.plain)),
  // A task of no project is refused, and a project that is deleted takes its tasks with it.
  project: Model.reference(() => Project, { checked: true, onDelete: "cascade" }),
  title: Schema.String.pipe(Validator.notEmpty, Validator.max(200)),
  state: Schema.Literals(["open", "done"]).pipe(Model.withDefault(() => "open" as const)),
  created: Model.DateTime.pipe(Model.generated(Generator.dateNow)),
  ...Model.versioned
}) {}
