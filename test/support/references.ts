/** Models that refer to each other in every way. */
import { Schema } from "effect"
import { Generator, Model } from "../../src/index.ts"

export class Ward extends Model.Class<Ward>()("Ward", { id: Model.id({ prefix: "W" }), name: Schema.String }) {}

export class Patient extends Model.Class<Patient>()("Patient", {
  id: Model.id({ prefix: "P", brand: "PatientId" }),
  name: Schema.String,
  ward: Model.reference(() => Ward, { checked: true, onDelete: "cascade" }).pipe(Model.optional),
  ...Model.versioned
}) {}

export class Code extends Model.Class<Code>()("Code", {
  id: Model.ObjectId.pipe(Model.generated(Generator.objectId)),
  text: Schema.String
}) {}

export class Step extends Model.Class<Step>()("Step", {
  code: Model.reference(() => Code, { onDelete: "null" }).pipe(Model.optional),
  text: Schema.String
}) {}

export class Visit extends Model.Class<Visit>()("Visit", {
  id: Model.id({ prefix: "V" }),
  patient: Model.reference(() => Patient, { checked: true, onDelete: "restrict" }),
  others: Schema.Array(Model.reference(() => Patient, { checked: true, onDelete: "null" })).pipe(
    Model.withDefault(() => [])
  ),
  steps: Schema.Array(Step).pipe(Model.withDefault(() => [])),
  plan: Schema.Struct({ next: Schema.optionalKey(Model.reference(() => Code, { onDelete: "null" })) }).pipe(
    Model.optional
  ),
  follows: Model.reference((): Model.Referable => Visit, { checked: true, onDelete: "null" }).pipe(Model.optional),
  ...Model.versioned
}) {}

export class Folder extends Model.Class<Folder>()("Folder", {
  id: Model.id({ prefix: "F" }),
  parent: Model.reference((): Model.Referable => Folder, { checked: true, onDelete: "cascade" }).pipe(Model.optional),
  ...Model.softDeleted,
  ...Model.historied
}) {}
