/**
 * Some of a model's fields instead of all of them. `Query` exports what is public of it.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as Field from "../../Model/Field.ts"
import {
  elementOf,
  type FieldAttributes,
  isModelLike,
  managedField,
  type ModelLike,
  modelTypeId,
  nestedModel,
  perModel,
  problemsOf,
  unwrapped
} from "../../Model/introspection.ts"
import type * as Model from "../../Model/Model.ts"
import { Problem } from "../../Model/ModelError.ts"
import type { Document } from "../DocumentStore.ts"
import { DocumentInvalid } from "../RepositoryError.ts"
import type { PathOf, Selected } from "./fieldTypes.ts"

/**
 * The name of a field of the model `M`, or of one in it behind a dot (`address.city`): at most three in a row.
 *
 * @category models
 * @since 0.1.0
 */
export type Path<M extends Model.Any> = PathOf<M["store"]["fields"]>

/**
 * Some fields of a model instead of all of them, with the values `A`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Selection<A> {
  /** What to ask the store for. */
  readonly projection: Document
  /** Between what the store gives, its identifier named `id`, and what was asked for. */
  readonly schema: Schema.Codec<A, unknown>
  /** Reads what the store gives. Validators are not asked, as they are not when whole documents are read. */
  readonly fromDocument: (document: Document) => Effect.Effect<A, DocumentInvalid>
}

/**
 * Some of the fields: how to ask the store for them, and how to read what it gives. Nothing else is part of the result,
 * not even the identifier.
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
  // The schema is made of the fields that the type picks.
  make(model, fields) as Selection<Selected<M["Type"], P>>

// internal

// The fields of a model that are asked for: whole, or some of those in them.
interface Branch extends Map<string, Branch | "whole"> {}

/** The selection of the fields, which is made once for each list of them: a model remembers the last ones asked for. */
const make = (model: ModelLike, names: ReadonlyArray<string>): Selection<unknown> => {
  const known = selectionsOf(model)
  const key = names.join()
  const selection = known.get(key) ?? makeSelection(model, names)
  known.delete(key)
  known.set(key, selection)
  const [oldest] = known.keys()
  if (known.size > maxKnown && oldest !== undefined) known.delete(oldest)
  return selection
}

// Callers may choose the fields, so their lists may be many.
const maxKnown = 100

const selectionsOf = perModel(() => new Map<string, Selection<unknown>>())

const makeSelection = (model: ModelLike, names: ReadonlyArray<string>): Selection<unknown> => {
  const root: Branch = new Map()
  for (const name of names) grow(root, name.split("."))
  const idField = managedField(model, "id")
  const projection: { [path: string]: 0 | 1 } = { _id: 0 }
  for (const path of pathsOf(model, root, "")) projection[path === idField ? "_id" : path] = 1
  // Fields need no services.
  const schema = schemaOf(model, root) as unknown as Schema.Codec<unknown>
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

const grow = (branch: Branch, [key = "", ...path]: ReadonlyArray<string>): void => {
  const inner = branch.get(key)
  if (inner === "whole") return
  if (path.length === 0) branch.set(key, "whole")
  else {
    const next: Branch = inner ?? new Map()
    branch.set(key, next)
    grow(next, path)
  }
}

const pathsOf = (model: ModelLike, branch: Branch, prefix: string): ReadonlyArray<string> =>
  [...branch].flatMap(([key, inner]) => {
    const schema = model.store.fields[key]
    const within = nestedModel(schema)
    // Of what has no fields, a store gives nothing: a list would lose its nulls.
    return inner === "whole" || within === undefined || hasNulls(schema)
      ? [prefix + key]
      : pathsOf(within, inner, `${prefix}${key}.`)
  })

const hasNulls = (schema: unknown): boolean => {
  const element = Schema.isSchema(schema) ? elementOf(schema) : undefined
  return element !== undefined && SchemaParser.is(element)(null)
}

const schemaOf = (model: ModelLike, branch: Branch): Schema.Top =>
  Schema.Struct(
    Object.fromEntries(
      [...branch].flatMap(([key, inner]) => {
        // A field of a struct is a schema.
        const schema = model.store.fields[key] as Schema.Top | undefined
        if (schema === undefined) return []
        const attributes = model[modelTypeId][key] ?? {}
        return [[key, inner === "whole" ? schema : partial(schema, attributes, inner)]]
      })
    )
  )

/** The field's schema with some of the fields of the model in it. */
const partial = (schema: Schema.Top, { default: byDefault, optional }: FieldAttributes, branch: Branch): Schema.Top => {
  const isNullable = optional !== true && SchemaParser.is(schema)(null)
  const inner = someOf(unwrapped(schema), branch)
  // A store gives no null for a document of which parts are asked for.
  if (isNullable) return defaulted(Schema.NullOr(inner), () => null)
  if (byDefault !== undefined) return defaulted(inner, () => picked(byDefault(), branch))
  return optional === true ? Field.optional(inner).schemas.store : inner
}

const defaulted = (schema: Schema.Top, value: () => unknown): Schema.Top =>
  Schema.withDecodingDefaultTypeKey(Effect.sync(value))(schema)

const someOf = (own: Schema.Top, branch: Branch): Schema.Top => {
  if (isModelLike(own)) return schemaOf(own, branch)
  const element = elementOf(own)
  if (element === undefined) return own
  const inner = someOf(unwrapped(element), branch)
  return Schema.Array(SchemaParser.is(element)(null) ? Schema.NullOr(inner) : inner)
}

const picked = (value: unknown, branch: Branch): unknown => {
  if (Array.isArray(value)) return value.map((item) => picked(item, branch))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    [...branch].flatMap(([key, inner]) => {
      const part: unknown = Reflect.get(value, key)
      return part === undefined ? [] : [[key, inner === "whole" ? part : picked(part, inner)]]
    })
  )
}
