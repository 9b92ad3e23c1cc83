/**
 * What a model was before: its earlier forms, and the ways from one form to the next.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import type * as VariantSchema from "effect/schema/VariantSchema"
import { DeclarationError } from "../internal/declarationError.ts"
import type { Field } from "./Field.ts"
import { derivedValue } from "./shape/derivedValue.ts"
import { attributesOf, type FieldInput, valueOf } from "./shape/fields.ts"

/**
 * An earlier form of a model, for a model with the values `Next` in the form after it. {@link was} makes it.
 *
 * @category models
 * @since 0.1.0
 */
export interface EarlierForm<in Next> {
  readonly "~appkernel/Model/EarlierForm": (next: Next) => void
}

/**
 * Types of {@link EarlierForm}.
 *
 * @category models
 * @since 0.1.0
 */
export declare namespace EarlierForm {
  /** The declared fields of a form. */
  export type Fields = { readonly [key: string]: Field.Input }

  /** The values of a form's fields. */
  export type Values<F extends Fields> = Schema.Struct.Type<
    VariantSchema.ExtractFields<"store", { readonly [K in keyof F]: VariantSchema.Field<Field.ConfigOf<F[K]>> }, true>
  >

  /** The fields that a repository manages are the same in each form. */
  type Managed = "id" | "version" | "inserted" | "updated" | "created_by" | "updated_by" | "deleted" | "revision"

  /** The names of what one form requires and another doesn't have, or has with another type. */
  type Missing<Wanted, Given> = {
    [K in keyof Wanted]-?: K extends Managed ? never
      : undefined extends Wanted[K] ? never
      : object extends Pick<Wanted, K> ? never
      : K extends keyof Given ? Given[K] extends Wanted[K] ? never : K
      : K
  }[keyof Wanted]

  /** What a way gives: every field that the other form lacks, and any other one. */
  export type Given<Wanted, From> = [Wanted] extends [never] ? object
    : Pick<Wanted, Missing<Wanted, From>> & Partial<Wanted>

  /** The ways between a form with the values `Before` and the next one. */
  export interface Ways<Before, Next> {
    /** The next form's fields that differ. It is pure: the same values give the same. */
    readonly up: (before: Before) => Given<Next, Before>
    /**
     * The earlier form's fields that differ, for processes and callers that know the earlier form only. It is pure. Without
     * it, documents are stored in the next form at once.
     */
    readonly down?: ((next: Next) => Given<Before, Next>) | undefined
  }
}

type Fields = EarlierForm.Fields

type Values<F extends Fields> = EarlierForm.Values<F>

type Value<F extends Field.Input> = Values<{ readonly field: F }> extends { readonly field: infer V } ? V : never

type Name<Next> = keyof Next & string

// Only the form before the newest one knows which form is next.
type At<Next, N extends PropertyKey> = [Next] extends [never] ? unknown : Next[N & keyof Next]

type Part<Next, N extends Name<Next>> = [Next] extends [never] ? object : Pick<Next, N>

interface Was {
  /**
   * The form with these fields, and the ways to the next form and back. A field that both forms declare with the same
   * schema is carried over; so are the identifier and the fields of traits, which need not be listed.
   */
  <const F extends Fields, Next = never>(
    fields: F,
    ways: EarlierForm.Ways<Values<F>, NoInfer<Next>>
  ): EarlierForm<Next>
  /**
   * The next form has one field more. A document without it has the field's default, or the value of `up`, which is the
   * same each time. Of a field with a generator and without a default, it has what the generator makes by a clock at the
   * first moment of 1970 and by the document's identifier in place of randomness: another value for each document, and no
   * secret. A generator of an asynchronous value needs `up`. Fields of traits need no entry.
   */
  readonly added: <Next = never, N extends Name<Next> = Name<Next>>(
    field: N,
    ways?: { readonly up: () => At<NoInfer<Next>, N> }
  ) => EarlierForm<Next>
  /** The field of the next form had another name. */
  readonly renamed: <Next = never>(before: string, after: Name<Next>) => EarlierForm<Next>
  /** The field, optional in the next form, was required. `down` is the value for those who still require it. */
  readonly madeOptional: <Next = never, N extends Name<Next> = Name<Next>>(
    field: N,
    ways?: { readonly down: () => NonNullable<Next[N]> }
  ) => EarlierForm<Next>
  /** The field had another schema. */
  readonly retyped: <const F extends Field.Input, Next = never, N extends Name<Next> = Name<Next>>(
    field: N,
    before: F,
    ways: {
      readonly up: (before: Value<F>) => At<NoInfer<Next>, N>
      readonly down?: ((next: NoInfer<Next>[N]) => Value<F>) | undefined
    }
  ) => EarlierForm<Next>
  /** These fields of the next form replaced others. All fields beside them are the same in both forms. */
  readonly replaced: <const F extends Fields, Next = never, N extends Name<Next> = Name<Next>>(
    after: ReadonlyArray<N>,
    before: F,
    ways: {
      readonly up: (before: Values<F>) => NoInfer<Part<Next, N>>
      readonly down?: ((next: Pick<Next, N>) => Values<F>) | undefined
    }
  ) => EarlierForm<Next>
}

/** The step from a form to the next one. @internal */
export interface Step {
  /** The declared fields of the form before. */
  readonly fields: { readonly [key: string]: FieldInput }
  /** The stored fields of the form before that the next form does not have, or has with other values. */
  readonly before: ReadonlyArray<string>
  /** The stored fields of the next form that come from them. */
  readonly after: ReadonlyArray<string>
  /** The names of the fields that the ways take: those of the form before, and those of the next one. */
  readonly takes: { readonly up: ReadonlyArray<string>; readonly down: ReadonlyArray<string> }
  readonly up: ((values: unknown) => unknown) | undefined
  readonly down: ((values: unknown) => unknown) | undefined
  /** Whether `up` gives what a generator makes of the identifier, for a document from before the field. */
  readonly isDerived?: boolean
  /** The field that is new in the next form, if documents of this one may have it without harm. */
  readonly adds?: string | undefined
  /** `stored`: the value is stored alike in both forms, perhaps under another name. */
  readonly kind: "stored" | "computed"
}

/** The declared fields of a model with earlier forms, and the steps between its forms, the oldest first. @internal */
export interface Versions {
  readonly fields: { readonly [key: string]: FieldInput }
  readonly steps: ReadonlyArray<Step>
}

/** That a model is an earlier form of another one. @internal */
export interface ViewOf<M> {
  readonly model: M
  /** The number of the version. */
  readonly version: number
}

/** @internal */
export const viewTypeId = "~appkernel/Model/viewOf"

/** @internal */
export const versionsTypeId = "~appkernel/Model/versions"

/** The number of a document's form, and what a document in an earlier form keeps for the next ones. @internal */
export const [modelVersionField, keptField] = ["_form", "_ahead"] as const

/** The steps between the forms of a model with these fields. Dies if there is none. @internal */
export const versionsOf = (
  name: string,
  fields: { readonly [key: string]: FieldInput },
  versions: ReadonlyArray<EarlierForm<never>>
): Versions => {
  const taken = [modelVersionField, keptField].find((key) => Object.hasOwn(fields, key))
  if (taken !== undefined) throw new DeclarationError(`${name} has versions, so it can't have a field named "${taken}"`)
  const steps: Array<Step> = []
  let next = fields
  for (const [i, version] of [...versions.entries()].toReversed()) {
    const step = stepOf(version)(next)
    if (typeof step === "string") {
      throw new DeclarationError(`${name} can't have been what its versions[${i}] says: form ${i + 2} ${step}`)
    }
    steps.unshift(step)
    next = step.fields
  }
  return { fields, steps: steps.map((step, i) => apart(step, steps.slice(0, i))) }
}

/**
 * The declared fields of an earlier form, by which callers read and write documents of the newest one; a text says why there
 * are none. A field is omitted if what it is made of is omitted in the next form.
 *
 * @internal
 */
export const viewFields = (
  { steps }: Versions,
  omitted: ReadonlySet<string>,
  form: number
): { readonly fields: Versions["fields"]; readonly omitted: ReadonlySet<string> } | string => {
  const step = steps[form - 1]
  if (step === undefined) return `has no earlier form ${form}`
  const missing = steps.findLastIndex(({ down }, i) => i >= form - 1 && down === undefined)
  if (missing >= 0) return `can't be served in form ${form}: there is no way down from form ${missing + 2}`
  const hidden = new Set(omitted)
  for (const { after, before } of steps.slice(form - 1).toReversed()) {
    const isHidden = after.some((key) => hidden.has(key))
    for (const key of after) hidden.delete(key)
    if (isHidden) { for (const key of before) hidden.add(key) }
  }
  return { fields: step.fields, omitted: hidden }
}

/** Makes a step from the declared fields of the next form; the reason why there is none, as a text. */
type MakeStep = (next: { readonly [key: string]: FieldInput }) => Step | string

const stepKey = Symbol.for("~appkernel/Model/EarlierForm/step")

const stepOf = (form: EarlierForm<never>): MakeStep =>
  // Only `made` makes forms.
  Reflect.get(form, stepKey) as MakeStep

// The type parameter has no value at run time.
const made = (step: MakeStep): EarlierForm<never> => ({ [stepKey]: step }) as unknown as EarlierForm<never>

// The ways take decoded values, whose types the public signatures know.
type Way = ((values: unknown) => unknown) | undefined

const listed = (
  listedFields: Fields,
  { down, up }: { readonly up: Way; readonly down?: Way }
): EarlierForm<never> =>
  made((next) => {
    const managed = Object.entries(next).filter(([key, field]) => isManaged(key, field))
    const fields = { ...Object.fromEntries(managed), ...inputsOf(listedFields) }
    const isCarried = (key: string) => isManaged(key, next[key] ?? fields[key]!) || next[key] === fields[key]
    const before = Object.keys(fields).filter((key) => !isCarried(key))
    const after = Object.keys(next).filter((key) => !isCarried(key))
    const takes = { up: Object.keys(listedFields), down: Object.keys(next) }
    return { fields, before, after, takes, up, down, kind: "computed" }
  })

const replaced = (
  after: ReadonlyArray<string>,
  beforeFields: Fields,
  { down, up }: { readonly up: Way; readonly down?: Way }
): EarlierForm<never> =>
  made((next) => {
    const missing = after.find((name) => next[name] === undefined)
    if (missing !== undefined) return `has no field "${missing}"`
    const before = Object.keys(beforeFields)
    const others = Object.entries(next).filter(([key]) => !after.includes(key))
    const taken = others.find(([key]) => before.includes(key))
    if (taken !== undefined) return `has a field "${taken[0]}" already`
    const fields = { ...Object.fromEntries(others), ...inputsOf(beforeFields) }
    return { fields, before, after, takes: { up: before, down: after }, up, down, kind: "computed" }
  })

/** A change of one field, whose value is stored alike. */
const stored = (
  names: { readonly before: string | undefined; readonly after: string },
  fieldBefore: (field: FieldInput) => FieldInput | undefined
): MakeStep =>
(next) => {
  const { [names.after]: field, ...others } = next
  if (field === undefined) return `has no field "${names.after}"`
  const { before } = names
  if (before !== undefined && Object.hasOwn(others, before)) return `has a field "${before}" already`
  const input = fieldBefore(field)
  const fields = before === undefined || input === undefined ? others : { ...others, [before]: input }
  const moved = before === undefined || before === names.after
    ? { before: [], after: [] }
    : { before: [before], after: [names.after] }
  return {
    fields,
    ...moved,
    adds: before === undefined ? names.after : undefined,
    takes: { up: [], down: [] },
    up: undefined,
    down: (values) => values,
    kind: "stored"
  }
}

/** Takes a new field out of documents of the form before, if a still earlier one has another field of this name. */
const apart = (step: Step, earlier: ReadonlyArray<Step>): Step => {
  const { adds } = step
  // Such a step has moved nothing.
  return adds === undefined || earlier.every(({ fields }) => fields[adds] === undefined)
    ? step
    : { ...step, after: [adds], up: nothingNew, down: nothingNew, kind: "computed" }
}

const nothingNew = () => ({})

const nameOf = (values: unknown, field: string): unknown => Reflect.get(Object(values), field)

const madeOptional = (field: string, ways?: { readonly down: () => unknown }): EarlierForm<never> => {
  const step = stored({ before: field, after: field }, valueOf)
  return made((next) => {
    const made = step(next)
    if (typeof made === "string") return made
    if (ways === undefined) return { ...made, down: undefined }
    const takes = { up: [field], down: [field] }
    const down = (values: unknown) => ({ [field]: nameOf(values, field) ?? ways.down() })
    return { ...made, before: [field], after: [field], takes, up: (values) => values, down, kind: "computed" }
  })
}

const added = (field: string, ways?: { readonly up: () => unknown }): EarlierForm<never> =>
  made((next) => {
    const { absent, generator, optional } = next[field] === undefined ? {} : attributesOf(next[field])
    const isGenerated = generator !== undefined && absent === undefined && optional !== true
    if (ways === undefined && !isGenerated) return stored({ before: undefined, after: field }, () => undefined)(next)
    const step = stepOf(replaced([field], {}, {
      up: ways !== undefined
        ? () => ({ [field]: ways.up() })
        : ((values) => ({ [field]: generator && derivedValue(generator, `${field} ${String(nameOf(values, "id"))}`) })),
      down: () => ({})
    }))(next)
    return typeof step === "string" || ways !== undefined
      ? step
      : { ...step, takes: { up: ["id"], down: [] }, isDerived: true }
  })

const shortForms = {
  added,
  renamed: (before: string, after: string) => made(stored({ before, after }, (field) => field)),
  madeOptional,
  retyped: (field: string, before: Field.Input, { down, up }: { readonly up: NonNullable<Way>; readonly down?: Way }) =>
    replaced([field], { [field]: before }, {
      up: (values) => ({ [field]: up(nameOf(values, field)) }),
      down: down && ((values) => ({ [field]: down(nameOf(values, field)) }))
    }),
  replaced
}

/**
 * What a model was: an earlier form in its `versions`, with its own fields and the ways to the next form and back.
 *
 * **Example** (A name that was split)
 *
 * ```ts
 * import { Schema } from "effect"
 * import { Model } from "appkernel"
 *
 * export class Person extends Model.Class<Person>()("Person", {
 *   id: Model.id(),
 *   first: Schema.String,
 *   last: Schema.String,
 *   nickname: Schema.String.pipe(Model.optional)
 * }, {
 *   versions: [
 *     Model.was.added("nickname"),
 *     Model.was.replaced(["first", "last"], { name: Schema.String }, {
 *       up: ({ name }) => {
 *         const at = name.lastIndexOf(" ")
 *         return { first: name.slice(0, Math.max(at, 0)), last: name.slice(at + 1) }
 *       },
 *       down: ({ first, last }) => ({ name: `${first} ${last}`.trim() })
 *     })
 *   ]
 * }) {}
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
// The ways take decoded values, whose types the public signatures know. Browsers load it only for models that have earlier forms.
export const was: Was = /* @__PURE__ */ Object.assign(listed, shortForms) as unknown as Was

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

function inputsOf(fields: Fields): { readonly [key: string]: FieldInput } {
  return fields
}

function isManaged(key: string, field: FieldInput): boolean {
  return key === "id" || attributesOf(field).managed !== undefined
}
