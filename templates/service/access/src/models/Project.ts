import { Generator, Index, Model, Validator } from "appkernel"
import { Schema } from "effect"

export class Project extends Model.Class<Project>()("Project", {
  id: Model.id({ prefix: "P" }),
  owner: Schema.String.pipe(Model.generated(Generator.currentUserId), Model.readOnly),
  name: Schema.String.pipe(Validator.notEmpty, Validator.max(100)),
  ...Model.audited
}, { indexes: [Index.compound({ owner: 1, name: 1 }, { unique: true })] }) {}
