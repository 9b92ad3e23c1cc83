/** Merge patches (RFC 7396) of structs and records at every depth: their schema, and their application. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaGetter from "effect/SchemaGetter"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { isPlainObject } from "../../internal/objects.ts"
import { staysAbsent } from "../codec/decoder.ts"
import { childrenOf, fold, nodesIn, withParts } from "../shape/nodes.ts"
import { nameOf } from "../shape/storedForm.ts"
import { modelOf } from "../shape/variants.ts"

/** Applies a JSON merge patch (RFC 7396) to a value. */
export type Merge = (before: unknown, change: unknown) => unknown

/**
 * The schema of a JSON merge patch (RFC 7396) for a value: a struct with any subset of its fields, a record with any
 * subset of its keys, at every depth. `null` removes a key and an optional field; in a field where it is a value, it is that.
 * Checks of objects are left out, since they apply to the merged value only.
 *
 * **Details**
 *
 * A patch replaces values that a schema transforms from objects, such as instances of a class or maps, since their
 * parts have no names. It replaces lists too. For a union of several object types, a patch may be any JSON. Models have
 * a patch schema of their own.
 */
export const mergePatchOf = (schema: Schema.Top): Schema.Top => mergingOf(schema.ast).patch ?? schema

/** How a merge patch changes a decoded value of the schema; `undefined` if it replaces the value. */
export const mergeOf = (schema: Schema.Top): Merge | undefined => mergingOf(schema.ast).merge

/**
 * Applies a patch: `null` removes a property unless it is one of its values, `undefined` changes nothing. Any name is
 * allowed.
 */
export const mergeProperties = (
  before: unknown,
  change: ReadonlyArray<readonly [key: string, part: unknown]>,
  merge: (key: string) => Merge | undefined,
  nullIsValue: (key: string) => boolean = () => false
): { readonly [key: string]: unknown } => {
  const parts: { [key: string]: unknown } = Predicate.isObject(before) ? { ...before } : {}
  for (const [key, part] of change) {
    if (part === null && !nullIsValue(key)) delete parts[key]
    else if (part !== undefined) {
      const value = merge(key)?.(Object.hasOwn(parts, key) ? parts[key] : undefined, part) ?? part
      if (key === "__proto__") Object.defineProperty(parts, key, { ...ownProperty, value })
      else parts[key] = value
    }
  }
  return parts
}

const ownProperty = { configurable: true, enumerable: true, writable: true }

/** A patch does not supply defaults: a field that it does not contain stays unchanged. */
const ofPresentValue = (schema: Schema.Top): Schema.Top => {
  // Fields need no services.
  const wrapped = Schema.Struct({ value: schema }) as unknown as Schema.Codec<{ readonly value?: unknown }>
  const [decode, encode] = [SchemaParser.decodeUnknownEffect(wrapped), SchemaParser.encodeUnknownEffect(wrapped)]
  const sent = Schema.make<Schema.Top>(withParts(SchemaAST.toEncoded(schema.ast), { context: undefined }))
  return sent.pipe(Schema.decodeTo(Schema.declare((_): _ is unknown => true), {
    decode: SchemaGetter.transformEffect((value: unknown) => valueOf(decode({ value }))),
    encode: SchemaGetter.transformEffect((value: unknown) => valueOf(encode({ value })))
  }))
}

const valueOf = (wrapped: Effect.Effect<{ readonly value?: unknown }, SchemaIssue.Issue>) =>
  Effect.mapBothEager(wrapped, { onSuccess: ({ value }) => value, onFailure: issueOfField })

/** The issue of the only field. */
const issueOfField = (issue: SchemaIssue.Issue): SchemaIssue.Issue =>
  issue._tag === "Composite" && issue.issues.length === 1
    ? issueOfField(issue.issues[0])
    : issue._tag === "Pointer"
    ? issue.issue
    : issue

/** What a merge patch does with the values of a type. Without `merge` it replaces them, and without `patch` by values. */
interface Merging {
  readonly patch?: Schema.Top
  readonly merge?: Merge | undefined
}

const mergingOf: (ast: SchemaAST.AST) => Merging = fold<Merging>({
  first: (ast, byCase) =>
    isOpaque(ast) ? replacing(ast) : isAnyJson(ast) ? { ...replacing(ast), merge: mergeJson } : byCase(),
  // A recursive schema ends here: the inner one is resolved when it is used.
  Suspend: (inner, { thunk }) => ({
    patch: Schema.suspend(() => mergePatchOf(Schema.make(thunk()))),
    merge: (before, change) => inner().merge?.(before, change) ?? change
  }),
  Objects: (ast) => ({ patch: patchOfObjects(ast), merge: mergeOfObjects(ast) }),
  Union: (ast) => {
    const [object, ...others] = ast.types.filter(hasProperties)
    if (object === undefined) return replacing(ast)
    if (others.length > 0) return isJson(ast) ? { patch: Schema.Json, merge: mergeJson } : replacing(ast)
    const members = ast.types.map((type) => mergePatchOf(Schema.make(type)))
    return { patch: Schema.Union(members), merge: mergingOf(object).merge }
  },
  otherwise: (ast) => replacing(ast)
})

const replacing = (ast: SchemaAST.AST): Merging => staysAbsent(ast) ? {} : { patch: ofPresentValue(Schema.make(ast)) }

const patchOfObjects = (ast: SchemaAST.Objects): Schema.Top => {
  const records = ast.indexSignatures.map(({ parameter, type }) =>
    // The parameter of an index signature is a valid record key.
    Schema.Record(Schema.make<Schema.Record.Key>(parameter), removable(type))
  )
  const [record] = records
  const fields = Object.fromEntries(ast.propertySignatures.map(({ name, type }) => {
    const isRemovable = SchemaAST.isOptional(type)
    return [name, Schema.optionalKey(isRemovable ? removable(type) : mergePatchOf(Schema.make(type)))]
  }))
  const patch: Schema.Top = record === undefined
    ? Schema.Struct(fields)
    : ast.propertySignatures.length === 0 && records.length === 1
    ? record
    : Schema.StructWithRest(Schema.Struct(fields), records)
  const identifier: unknown = ast.annotations?.["identifier"]
  return typeof identifier === "string" ? patch.annotate({ identifier: `${identifier}Patch` }) : patch
}

/** `null` comes first, so that no other member decodes it. */
const removable = (type: SchemaAST.AST): Schema.Top => Schema.Union([Schema.Null, mergePatchOf(Schema.make(type))])

/** Whether the values are transformed from something else or are models, which have a patch schema of their own. */
const isOpaque = (ast: SchemaAST.AST): boolean => ast.encoding !== undefined || modelOf(ast) !== undefined

/** Whether every JSON object is a value. */
const isAnyJson = (ast: SchemaAST.AST): boolean =>
  ast._tag === "Unknown" || ast._tag === "Any" || ast._tag === "ObjectKeyword" ||
  nameOf(ast) === "effect/schema/Json" || nameOf(ast) === "effect/schema/MutableJson"

/** Whether values may be objects whose properties a patch can address. */
const hasProperties = (ast: SchemaAST.AST): boolean =>
  !isOpaque(ast) && (
    isAnyJson(ast) || ast._tag === "Objects" || ast._tag === "Suspend" ||
    ast._tag === "Union" && ast.types.some(hasProperties)
  )

/** Whether the decoded values are JSON. */
const isJson = (ast: SchemaAST.AST): boolean =>
  nodesIn(ast, (node) => isAnyJson(node) ? [] : childrenOf(node, true))
    .every((node) => !isOpaque(node) && (isAnyJson(node) || node._tag !== "Declaration"))

const mergeJson: Merge = (before, change) =>
  isPlainObject(change) ? mergeProperties(before, Object.entries(change), () => mergeJson) : change

const mergeOfObjects = (ast: SchemaAST.Objects): Merge => {
  const named = new Map(ast.propertySignatures.map(({ name, type }) => [String(name), type]))
  const [others] = ast.indexSignatures
  const merge = (key: string): Merge | undefined => {
    const type = named.get(key) ?? others?.type
    return type && mergingOf(type).merge
  }
  const nullIsValue = (key: string): boolean => {
    const type = named.get(key)
    return type !== undefined && !SchemaAST.isOptional(type) && Schema.is(Schema.make(type))(null)
  }
  return (before, change) =>
    isPlainObject(change) ? mergeProperties(before, Object.entries(change), merge, nullIsValue) : change
}
