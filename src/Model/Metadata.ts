/**
 * The metadata of a model's fields, for user interfaces.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { toWire } from "./codec/serialiser.ts"
import { type PictureSize, relatedAnnotation, validatorAnnotation, type ValidatorEntry } from "./shape/annotations.ts"
import { isConvertedCheck } from "./shape/fieldConverter.ts"
import { choicesOf, kindOf } from "./shape/kind.ts"
import { referencesOf } from "./shape/references.ts"
import { elementOf, isRequiredInput, type ModelLike, modelTypeId, nestedModel, unwrapped } from "./shape/variants.ts"

/**
 * The description of one field. Its `type` is `str`, `int`, `float`, `bool`, `list`, `datetime`, `date`, `enum`, or the
 * name of a nested model, whose own fields are in `props`.
 *
 * @category models
 * @since 0.1.0
 */
export interface FieldMetadata {
  /** `<Model>.<field>`. */
  readonly label: string
  /** What the field is for, where the catalogue of the language says so. */
  readonly help?: string | undefined
  readonly required: boolean
  readonly type: string
  readonly sub_type?: string | TypeMetadata | undefined
  /** The members of an enumeration in their wire form. */
  readonly values?: ReadonlyArray<string | number | boolean> | undefined
  /** What people call the members, where the catalogue of the language says so. */
  readonly value_labels?: { readonly [value: string]: string } | undefined
  readonly props?: Metadata | undefined
  /** The model whose identifiers the field or the list holds. */
  readonly reference?: string | undefined
  /** Whether the field's words are found by `$text`. */
  readonly text_search?: true | undefined
  /** What the files of the field may be. */
  readonly file?:
    | {
      readonly types?: ReadonlyArray<string> | undefined
      readonly max_size?: number | undefined
      /** The sizes in which pictures are served. */
      readonly image?: { readonly [size: string]: PictureSize } | undefined
    }
    | undefined
  readonly default_value?: unknown
  readonly validators?: ReadonlyArray<ValidatorEntry> | undefined
}

/**
 * The description of a list's elements, if they are nested models or members of an enumeration.
 *
 * @category models
 * @since 0.1.0
 */
export interface TypeMetadata {
  readonly type: string
  /** The members of an enumeration in their wire form. */
  readonly values?: ReadonlyArray<string | number | boolean> | undefined
  /** What people call the members, where the catalogue of the language says so. */
  readonly value_labels?: { readonly [value: string]: string } | undefined
  readonly props?: Metadata | undefined
}

/**
 * The descriptions of a model's fields, by the names of the fields.
 *
 * @category models
 * @since 0.1.0
 */
export interface Metadata {
  readonly [field: string]: FieldMetadata
}

/**
 * Describes the fields that callers see, without omitted ones. A recursive reference has no `props`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (model: ModelLike): Metadata => describeAll(model, [])

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const describeAll = (model: ModelLike, outer: ReadonlyArray<string>): Metadata =>
  Object.fromEntries(
    Object.keys(model.wire.fields).filter((name) => name in model.store.fields).map((name) => [
      name,
      describe(model, name, [...outer, model.modelName])
    ])
  )

const describe = (model: ModelLike, name: string, outer: ReadonlyArray<string>): FieldMetadata => {
  // Every struct field is a schema.
  const schema = model.store.fields[name] as Schema.Top
  const { default: byDefault, file, index } = model[modelTypeId][name] ?? {}
  const inner = nestedModel(schema)
  const element = elementOf(schema)
  const described = inner === undefined ? undefined : describeModel(inner, outer)
  const elementType = element === undefined ? undefined : describeType(element)
  const validators = validatorsOf(model, name)
  const reference = referencesOf(model).find(({ path }) => path.length === 1 && path[0] === name)
  return {
    label: `${model.modelName}.${name}`,
    required: isRequiredInput(model, name),
    ...(elementType === undefined
      ? described ?? describeType(schema)
      : { type: "list", sub_type: described ?? (elementType.values === undefined ? elementType.type : elementType) }),
    ...(reference === undefined ? {} : { reference: reference.target().modelName }),
    ...(index?.direction === "text" ? { text_search: true } : {}),
    ...(file === undefined ? {} : {
      file: {
        ...(file.types.length === 0 ? {} : { types: file.types }),
        ...(file.maxSize === undefined ? {} : { max_size: file.maxSize }),
        ...(Object.keys(file.image).length === 0 ? {} : { image: file.image })
      }
    }),
    ...(byDefault === undefined ? {} : { default_value: toWire(model, name, byDefault()) }),
    ...(validators.length === 0 ? {} : { validators })
  }
}

const describeModel = (model: ModelLike, outer: ReadonlyArray<string>): TypeMetadata =>
  outer.includes(model.modelName)
    ? { type: model.modelName }
    : { type: model.modelName, props: describeAll(model, outer) }

/** The validators of the input and those of the converted value. */
const validatorsOf = (model: ModelLike, name: string): ReadonlyArray<ValidatorEntry> => {
  const entries = [model.create.fields[name], model.store.fields[name]].flatMap((field) =>
    // Every struct field is a schema.
    field === undefined ? [] : entriesOf(unwrapped(field as Schema.Top).ast)
  )
  entries.push(
    ...(model.store.ast.checks ?? []).filter((check) => check.annotations?.[relatedAnnotation] === name).flatMap(
      entryOf
    )
  )
  return entries.filter((entry, i) => entries.findIndex((other) => isIdentical(entry, other)) === i)
}

const entriesOf = (ast: SchemaAST.AST): ReadonlyArray<ValidatorEntry> => (ast.checks ?? []).flatMap(entryOf)

const entryOf = (check: SchemaAST.Check<never>): ReadonlyArray<ValidatorEntry> => {
  const entry: unknown = check.annotations?.[validatorAnnotation]
  // Only validators write this annotation. The conversion check is not listed.
  return entry === undefined || isConvertedCheck(check) ? [] : [entry as ValidatorEntry]
}

const isIdentical = (self: ValidatorEntry, that: ValidatorEntry): boolean =>
  self.type === that.type && self.value === that.value

const describeType = (schema: Schema.Top): TypeMetadata => {
  const { ast } = unwrapped(schema)
  const kind = kindOf(ast)
  const values = kind === "enum" ? choicesOf(ast) : []
  return {
    type: kind === "enum" || kind === "any" ? SchemaAST.resolveIdentifier(SchemaAST.toType(ast)) ?? kind : kind,
    ...(values.length === 0 ? {} : { values })
  }
}
