/** What callers send for a value that has models in it: each of them in its `create` form. */
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { mapParts, withParts } from "./nodes.ts"
import { isModelLike, modelOf, type modelTypeId } from "./variants.ts"

/**
 * The schema of what callers send for a value: each model in it in its `create` form.
 *
 * @category schemas
 * @since 0.1.0
 */
export type Sent<S> = S extends { readonly [modelTypeId]: unknown; readonly create: infer Create } ? Create
  : S extends { readonly ast: SchemaAST.Arrays; readonly value: infer Item; readonly Type: infer List }
    ? List extends readonly [unknown, ...ReadonlyArray<unknown>] ? Schema.NonEmptyArray<Sent<Item> & Schema.Top>
    : Schema.$Array<Sent<Item> & Schema.Top>
  : S extends { readonly ast: SchemaAST.Arrays; readonly elements: infer Elements extends Schema.Tuple.Elements }
    ? Schema.Tuple<{ readonly [I in keyof Elements]: Sent<Elements[I]> & Schema.Top }>
  : S extends { readonly schema: infer Inner; readonly "~type.optionality": "optional" }
    ? Schema.optionalKey<Sent<Inner> & Schema.Top>
  : S extends
    { readonly ast: SchemaAST.Union; readonly members: readonly [infer One, ...infer Others extends Nothings] }
    ? Schema.Union<readonly [Sent<One> & Schema.Top, ...Others]>
  : S extends { readonly ast: SchemaAST.Objects; readonly fields: infer Fields extends Schema.Struct.Fields }
    ? Schema.Struct<SentFields<Fields>>
  : S extends
    { readonly ast: SchemaAST.Objects; readonly key: infer Key extends Schema.Record.Key; readonly value: infer Value }
    ? Schema.$Record<Key, Sent<Value> & Schema.Top>
  : S

/**
 * The fields of a struct in the form in which callers send them.
 *
 * @category schemas
 * @since 0.1.0
 */
export type SentFields<Fields extends Schema.Struct.Fields> = {
  readonly [K in keyof Fields]: Sent<Fields[K]> & Schema.Top
}

type Nothings = ReadonlyArray<Schema.Null | Schema.Undefined>

/**
 * The schema of what callers send: a model in its `create` form, and so each model in lists, tuples, structs, records and
 * optional values. Of a union of several models one can't tell which was sent, so it stays as it is.
 *
 * @internal
 */
export const sentForm = (schema: Schema.Top): Schema.Top => {
  if (isModelLike(schema)) return schema.create
  const ast = sentNode(schema.ast)
  if (ast === schema.ast) return schema
  return "fields" in schema
    ? Schema.make(ast, {
      // The fields of a struct.
      fields: Object.fromEntries(
        Object.entries(schema.fields as Schema.Struct.Fields).map((
          [name, field]
        ) => [name, sentForm(field as Schema.Top)])
      )
    })
    : Schema.make(ast)
}

/** The only member of a union beside `null` and `undefined`, if there is one. @internal */
export const presentMember = (ast: SchemaAST.Union): SchemaAST.AST | undefined => {
  const [member, ...others] = ast.types.filter(({ _tag }) => _tag !== "Null" && _tag !== "Undefined")
  return others.length === 0 ? member : undefined
}

// A recursive schema has one form.
const sentNode = memoize((ast: SchemaAST.AST): SchemaAST.AST => {
  const model = modelOf(ast)
  if (model !== undefined) {
    const own = model.create.ast
    const added = ast.checks?.filter((check) => model.ast.checks?.includes(check) !== true) ?? []
    const [check, ...others] = [...own.checks ?? [], ...added]
    return withParts(own, { context: ast.context, checks: check === undefined ? undefined : [check, ...others] })
  }
  if (ast.encoding !== undefined || ast._tag === "Union" && presentMember(ast) === undefined) return ast
  return mapParts(ast, sentNode)
})
