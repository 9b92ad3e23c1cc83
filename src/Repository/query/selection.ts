/**
 * Selections of a model's fields: projections of the store, and decoders for what the store returns. `Query` exports the
 * public part.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import { BoundedCache } from "../../internal/boundedCache.ts"
import * as Field from "../../Model/Field.ts"
import {
  elementOf,
  type FieldAttributes,
  isModelLike,
  managedField,
  type ModelLike,
  modelTypeId,
  nestedModel,
  problemsOf,
  unwrapped
} from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { Problem } from "../../Model/ModelError.ts"
import type { Document } from "../DocumentStore.ts"
import { DocumentInvalid } from "../RepositoryError.ts"
import type { PathOf, Selected } from "./fieldTypes.ts"

/**
 * The name of a field of the model `M`, or the dotted path of a nested field (`address.city`), up to three levels deep.
 *
 * @category models
 * @since 0.1.0
 */
export type Path<M extends Model.Any> = PathOf<M["store"]["fields"]>

/**
 * A selection of a model's fields. `A` is the type of the selected values.
 *
 * @category models
 * @since 0.1.0
 */
export interface Selection<A> {
  /** The projection for the store. */
  readonly projection: Document
  /** The codec between the projected document, with its identifier as `id`, and the selected values. */
  readonly schema: Schema.Codec<A, unknown>
  /** Decodes a projected document. Like the read of a complete document, it runs no validators. */
  readonly fromDocument: (document: Document) => Effect.Effect<A, DocumentInvalid>
}

/**
 * Selects fields of a model: returns the projection for the store, and the decoder of the projected documents. The result
 * has the selected fields only; the identifier is not added.
 *
 * **Example** (Two fields)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Model, Query } from "appkernel"
 *
 * class Address extends Model.Class<Address>()("Address", { street: Schema.String, city: Schema.String }) {}
 *
 * class Person extends Model.Class<Person>()("Person", {
 *   id: Model.id(),
 *   name: Schema.String,
 *   address: Address.pipe(Model.optional)
 * }) {}
 *
 * const { fromDocument, projection } = Query.select(Person, ["name", "address.city"])
 *
 * projection // => { _id: 0, name: 1, "address.city": 1 }
 *
 * const person = await Effect.runPromise(fromDocument({ name: "Jane", address: { city: "Bern" } }))
 * person.address?.city // => "Bern"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const select = <M extends Model.Any, const P extends Path<M>>(
  model: M,
  fields: ReadonlyArray<P>
): Selection<Selected<M["Type"], P>> =>
  // The schema is made from the fields that the type selects.
  cachedSelections(model).getOrMake(fields.join(), () => makeSelection(model, fields)) as Selection<
    Selected<M["Type"], P>
  >

// internal

// The selected fields of a model, each complete or with selected fields of its own.
interface SelectionTree extends Map<string, SelectionTree | "complete"> {}

// Clients may choose the fields, so the number of different selections is not bounded.
const maxCached = 256

const cachedSelections = memoize(() => new BoundedCache<Selection<unknown>>(maxCached))

const makeSelection = (model: ModelLike, names: ReadonlyArray<string>): Selection<unknown> => {
  const tree: SelectionTree = new Map()
  for (const name of names) insertPath(tree, name.split("."))
  const idField = managedField(model, "id")
  const projection: { [path: string]: 0 | 1 } = { _id: 0 }
  for (const path of projectedPaths(model, tree, "")) projection[path === idField ? "_id" : path] = 1
  // The fields of a model are codecs without services.
  const schema = schemaOf(model, tree) as unknown as Schema.Codec<unknown>
  const decode = SchemaParser.decodeUnknownExit(schema, { disableChecks: true, errors: "all" })
  return {
    projection,
    schema,
    fromDocument: ({ _id, ...fields }) => {
      const exit = decode(_id === undefined || idField === undefined ? fields : { [idField]: _id, ...fields })
      if (exit._tag === "Success") return Effect.succeed(exit.value)
      const issue = Cause.findErrorOption(exit.cause)
      return issue._tag === "None" ? Effect.die(exit.cause) : Effect.fail(
        new DocumentInvalid({
          model: model.modelName,
          id: String(_id),
          problems: problemsOf(issue.value).map((problem) => new Problem(problem))
        })
      )
    }
  }
}

const insertPath = (tree: SelectionTree, [key = "", ...path]: ReadonlyArray<string>): void => {
  const inner = tree.get(key)
  if (inner === "complete") return
  if (path.length === 0) tree.set(key, "complete")
  else {
    const next: SelectionTree = inner ?? new Map()
    tree.set(key, next)
    insertPath(next, path)
  }
}

const projectedPaths = (model: ModelLike, tree: SelectionTree, prefix: string): ReadonlyArray<string> =>
  [...tree].flatMap(([key, inner]) => {
    const schema = model.store.fields[key]
    const nested = nestedModel(schema)
    // A projection of nested fields drops the elements that are not documents, so a list with nulls is read completely.
    return inner === "complete" || nested === undefined || mayHaveNullElements(schema)
      ? [prefix + key]
      : projectedPaths(nested, inner, `${prefix}${key}.`)
  })

const mayHaveNullElements = (schema: unknown): boolean => {
  const element = Schema.isSchema(schema) ? elementOf(schema) : undefined
  return element !== undefined && SchemaParser.is(element)(null)
}

const schemaOf = (model: ModelLike, tree: SelectionTree): Schema.Top =>
  Schema.Struct(
    Object.fromEntries(
      [...tree].flatMap(([key, inner]) => {
        // Each field of a struct is a schema.
        const schema = model.store.fields[key] as Schema.Top | undefined
        if (schema === undefined) return []
        const attributes = model[modelTypeId][key] ?? {}
        return [[key, inner === "complete" ? schema : partialSchema(schema, attributes, inner)]]
      })
    )
  )

/** The schema of a field whose nested model has the selected fields only. */
const partialSchema = (
  schema: Schema.Top,
  { absent, optional }: FieldAttributes,
  tree: SelectionTree
): Schema.Top => {
  const isNullable = optional !== true && SchemaParser.is(schema)(null)
  const inner = withSelectedFields(unwrapped(schema), tree)
  // A projection of nested fields omits a field that is null.
  if (isNullable) return withDefault(Schema.NullOr(inner), () => null)
  if (absent !== undefined) return withDefault(inner, () => selectFrom(absent(), tree))
  return optional === true ? Field.optional(inner).schemas.store : inner
}

const withDefault = (schema: Schema.Top, value: () => unknown): Schema.Top =>
  Schema.withDecodingDefaultTypeKey(Effect.sync(value))(schema)

const withSelectedFields = (schema: Schema.Top, tree: SelectionTree): Schema.Top => {
  if (isModelLike(schema)) return schemaOf(schema, tree)
  const element = elementOf(schema)
  if (element === undefined) return schema
  const inner = withSelectedFields(unwrapped(element), tree)
  return Schema.Array(SchemaParser.is(element)(null) ? Schema.NullOr(inner) : inner)
}

const selectFrom = (value: unknown, tree: SelectionTree): unknown => {
  if (Array.isArray(value)) return value.map((element) => selectFrom(element, tree))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    [...tree].flatMap(([key, inner]) => {
      const field: unknown = Reflect.get(value, key)
      return field === undefined ? [] : [[key, inner === "complete" ? field : selectFrom(field, inner)]]
    })
  )
}
