/**
 * References to documents of another model. `Model` exports them.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as VariantSchema from "effect/schema/VariantSchema"
import type * as SchemaAST from "effect/SchemaAST"
import { evolve } from "../shape/fields.ts"
import { withParts } from "../shape/nodes.ts"
import { embed, type OnDelete, type Reference, referenceAnnotation } from "../shape/references.ts"
import { die, managedField, type ModelLike, unwrapped, variants } from "../shape/variants.ts"

export type { OnDelete } from "../shape/references.ts"

/**
 * A model whose documents have identifiers of the type `Id`: the type of {@link reference}'s argument where it refers to the
 * model that is being declared, or to one that refers back.
 *
 * @category models
 * @since 0.1.0
 */
export interface Referable<Id = string> {
  readonly modelName: string
  readonly wire: { readonly fields: { readonly id: Schema.Codec<Id, Id> } }
}

/**
 * The mark by which a typed client knows the model of a reference. No schema has this property at run time.
 *
 * @category models
 * @since 0.1.0
 */
export interface Referring<M> {
  readonly "~Referring"?: M
}

/**
 * Options of {@link reference}.
 *
 * @category models
 * @since 0.1.0
 */
export interface ReferenceOptions {
  /**
   * Whether every write of a repository checks that the document exists, in the transaction of the write. Defaults to false.
   */
  readonly checked?: boolean | undefined
  /**
   * What happens when the document that it refers to is deleted: `"restrict"` refuses to, `"null"` removes the reference, and
   * `"cascade"` deletes the referring document as well. Defaults to nothing: the reference then leads nowhere.
   */
  readonly onDelete?: OnDelete | undefined
}

/**
 * The identifier of a document of another model: its values are of that model's identifiers. It may be optional, an item of a
 * list, and part of a nested model or a struct.
 *
 * **Example** (An appointment of a patient)
 *
 * ```ts
 * import { Schema } from "effect"
 * import { Model } from "appkernel"
 *
 * class Patient extends Model.Class<Patient>()("Patient", { id: Model.id({ brand: "PatientId" }), name: Schema.String }) {}
 *
 * class Appointment extends Model.Class<Appointment>()("Appointment", {
 *   id: Model.id(),
 *   patient: Model.reference(() => Patient, { checked: true, onDelete: "restrict" }),
 *   follows: Model.reference((): Model.Referable => Appointment, { onDelete: "null" }).pipe(Model.optional)
 * }) {}
 *
 * Model.metadata(Appointment)["patient"]?.reference // => "Patient"
 * ```
 *
 * **Gotchas**
 *
 * A model that refers to itself, or to one that refers back, needs the type of the function's result: `Model.Referable`, or
 * `Model.Referable<UserId>` for branded identifiers. A repository can't be made, and dies, if `onDelete` is `"null"` and the
 * field is neither optional nor a list, and if the reference is part of a record.
 *
 * @category constructors
 * @since 0.1.0
 */
export const reference = <
  M extends { readonly modelName: string; readonly wire: { readonly fields: { readonly id: Schema.Top } } }
>(
  model: () => M,
  { checked = false, onDelete }: ReferenceOptions = {}
): M["wire"]["fields"]["id"] & Referring<M> => {
  // Every model has the structure that `M` has a part of.
  const target = model as unknown as () => ModelLike
  const annotation: Reference = { target, onDelete, isChecked: checked, embed }
  const ast = nodeOf(target)
  const annotations = { ...ast.annotations, [referenceAnnotation]: annotation }
  return Schema.make<Schema.Top>(withParts(ast, { annotations }))
}

/**
 * The documents of another model that refer to one of this model: what `expand` names, and no field of a document. `field` is the
 * path of the reference there.
 *
 * **Example** (The appointments of a patient)
 *
 * ```ts
 * import { Schema } from "effect"
 * import { Model } from "appkernel"
 *
 * class Patient extends Model.Class<Patient>()("Patient", {
 *   id: Model.id(),
 *   name: Schema.String,
 *   appointments: Model.referencedBy((): Model.Referable => Appointment, "patient")
 * }) {}
 *
 * class Appointment extends Model.Class<Appointment>()("Appointment", {
 *   id: Model.id(),
 *   patient: Model.reference(() => Patient)
 * }) {}
 *
 * Object.keys(Patient.wire.fields) // => ["_type", "id", "name"]
 * ```
 *
 * **Gotchas**
 *
 * A repository can't be made, and dies, if the field is no reference to this model.
 *
 * @category constructors
 * @since 0.1.0
 */
export const referencedBy = (model: () => { readonly modelName: string }, field: string): VariantSchema.Field<{}> =>
  evolve(variants.Field({}), {}, { referencedBy: { model, field, embed } })

/** A class that is not declared yet is looked up when it is needed. */
const nodeOf = (target: () => ModelLike): SchemaAST.AST => {
  const known = Result.getOrUndefined(Result.try((): ModelLike | undefined => target()))
  return known === undefined ? Schema.suspend(() => idOf(target())).ast : idOf(known).ast
}

const idOf = (model: ModelLike): Schema.Codec<unknown> =>
  idSchemaOf(model) ?? die(`The model ${model.modelName} has no field "id" to refer to`)

/** The schema of a model's identifier, if it has one. @internal */
export const idSchemaOf = (model: ModelLike): Schema.Codec<unknown> | undefined => {
  const field = managedField(model, "id")
  // The fields of a model are codecs without services.
  return field === undefined ? undefined : unwrapped(model.store.fields[field] as Schema.Top) as Schema.Codec<unknown>
}
