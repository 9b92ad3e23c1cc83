import { Index, Model, Validator } from "appkernel"
import { Schema } from "effect"

export class Project extends Model.Class<Project>()("Project", {
  id: Model.id({ prefix: "P" }),
  name: Schema.String.pipe(Validator.notEmpty, Validator.max(100), Model.indexed(Index.unique)),
  ...Model.audited
}) {}
