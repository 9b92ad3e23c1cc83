import * as Effect from "effect/Effect"
import { memoize } from "effect/Function"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaGetter from "effect/SchemaGetter"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { staysAbsent } from "../codec/decoder.ts"
import { nodesIn } from "../shape/fold.ts"
import { childrenOf, withParts } from "../shape/nodes.ts"
import { nameOf } from "../shape/storedForm.ts"
import { modelOf } from "../shape/variants.ts"

/**
 * Applies a JSON merge patch (RFC 7396) to a value.
 *
 * @internal
 */
export type Merge = (before: unknown, change: unknown) => unknown

/**
 * The schema of a JSON merge patch (RFC 7396) for a value: a struct with any subset of its fields, a record with any
 * subset of its keys, each with `null` to remove it, at every depth. Checks of objects are left out, since they apply
 * to the merged value only.
 *
 * **Details**
 *
 * A patch replaces values that a schema transforms from objects, such as instances of a class or maps, since their
 * parts have no names. It replaces lists too. For a union of several object types, a patch may be any JSON. Models have
 * a patch schema of their own.
 *
 * @internal
 */
export const mergePatchOf = (schema: Schema.Top): Schema.Top => {
  const cached = patches.get(schema.ast)
  if (cached !== undefined) return cached
  const patch = makePatch(schema.ast) ?? (staysAbsent(schema.ast) ? schema : ofPresentValue(schema))
  patches.set(schema.ast, patch)
  return patch
}

/**
 * How a merge patch changes a decoded value of the schema; `undefined` if it replaces the value.
 *
 * @internal
 */
export const mergeOf = (schema: Schema.Top): Merge | undefined => mergeOfAst(schema.ast)

/**
 * Whether the value is an object without a class.
 *
 * @internal
 */
export const isPlainObject = (value: unknown): value is { readonly [key: string]: unknown } => {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * Applies a patch to the properties of an object: `null` removes a property, `undefined` changes nothing. A value that
 * is no object has no properties. Any name is allowed, including `__proto__`.
 *
 * @internal
 */
export const mergeProperties = (
  before: unknown,
  change: ReadonlyArray<readonly [key: string, part: unknown]>,
  merge: (key: string) => Merge | undefined
): { readonly [key: string]: unknown } => {
  const parts = new Map<string, unknown>(isObject(before) ? Object.entries(before) : [])
  for (const [key, part] of change) {
    if (part === null) parts.delete(key)
    else if (part !== undefined) parts.set(key, merge(key)?.(parts.get(key), part) ?? part)
  }
  return Object.fromEntries(parts)
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const patches = new WeakMap<SchemaAST.AST, Schema.Top>()

/** A patch does not supply defaults: a field that it does not contain stays unchanged. */
const ofPresentValue = (schema: Schema.Top): Schema.Top => {
  // Fields need no services.
  const wrapped = Schema.Struct({ value: schema }) as unknown as Schema.Codec<{ readonly value?: unknown }>
  const [decode, encode] = [SchemaParser.decodeUnknownEffect(wrapped), SchemaParser.encodeUnknownEffect(wrapped)]
  const sent = Schema.make<Schema.Top>(withParts(SchemaAST.toEncoded(schema.ast), { context: undefined }))
  // oxlint-disable-next-line eslint/no-unused-vars -- any value at all, also one that has no JSON
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

const makePatch = (ast: SchemaAST.AST): Schema.Top | undefined => {
  const target = mergeTargetOf(ast)
  switch (target._tag) {
    case "Object":
      return patchOfObjects(target.ast)
    case "Union":
      return Schema.Union(target.types.map((type) => mergePatchOf(Schema.make(type))))
    case "JsonUnion":
      return Schema.Json
    case "Suspended":
      return Schema.suspend(() => mergePatchOf(Schema.make(target.thunk())))
    default:
      return undefined
  }
}

const patchOfObjects = (ast: SchemaAST.Objects): Schema.Top => {
  const records = ast.indexSignatures.map(({ parameter, type }) =>
    // The parameter of an index signature is a valid record key.
    Schema.Record(Schema.make<Schema.Record.Key>(parameter), propertyPatchOf(type))
  )
  const [record] = records
  const fields = Object.fromEntries(
    ast.propertySignatures.map(({ name, type }) => [name, Schema.optionalKey(propertyPatchOf(type))])
  )
  const patch: Schema.Top = record === undefined
    ? Schema.Struct(fields)
    : ast.propertySignatures.length === 0 && records.length === 1
    ? record
    : Schema.StructWithRest(Schema.Struct(fields), records)
  const identifier: unknown = ast.annotations?.["identifier"]
  return typeof identifier === "string" ? patch.annotate({ identifier: `${identifier}Patch` }) : patch
}

/** `null` comes first, so that no other member decodes it. */
const propertyPatchOf = (type: SchemaAST.AST): Schema.Top =>
  Schema.Union([Schema.Null, mergePatchOf(Schema.make(type))])

/** What a merge patch does with the values of a type. Both the patch's schema and its application follow from it. */
type MergeTarget =
  /** Replaces the value. */
  | { readonly _tag: "Replaced" }
  /** Merges any JSON object. */
  | { readonly _tag: "AnyJson" }
  /** Merges the declared properties. */
  | { readonly _tag: "Object"; readonly ast: SchemaAST.Objects }
  /** Merges the values of the only member with properties, and replaces those of the others. */
  | { readonly _tag: "Union"; readonly types: ReadonlyArray<SchemaAST.AST>; readonly object: SchemaAST.AST }
  /** Merges any JSON object, since several members have properties. */
  | { readonly _tag: "JsonUnion" }
  /** Does what it does with the values of the suspended type. */
  | { readonly _tag: "Suspended"; readonly thunk: () => SchemaAST.AST }

const replaced: MergeTarget = { _tag: "Replaced" }

const mergeTargetOf = (ast: SchemaAST.AST): MergeTarget => {
  if (isOpaque(ast)) return replaced
  if (isAnyJson(ast)) return { _tag: "AnyJson" }
  switch (ast._tag) {
    case "Objects":
      return { _tag: "Object", ast }
    case "Union": {
      const [object, ...others] = ast.types.filter(hasProperties)
      if (object === undefined) return replaced
      if (others.length === 0) return { _tag: "Union", types: ast.types, object }
      return isJson(ast) ? { _tag: "JsonUnion" } : replaced
    }
    case "Suspend":
      return { _tag: "Suspended", thunk: ast.thunk }
    default:
      return replaced
  }
}

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

const mergeOfAst = (ast: SchemaAST.AST): Merge | undefined => made(ast).merge

const made = memoize((ast: SchemaAST.AST) => ({ merge: makeMerge(ast) }))

const makeMerge = (ast: SchemaAST.AST): Merge | undefined => {
  const target = mergeTargetOf(ast)
  switch (target._tag) {
    case "Object":
      return mergeOfObjects(target.ast)
    case "Union":
      return mergeOfAst(target.object)
    case "AnyJson":
    case "JsonUnion":
      return mergeJson
    case "Suspended":
      return (before, change) => {
        const merge = mergeOfAst(target.thunk())
        return merge === undefined ? change : merge(before, change)
      }
    case "Replaced":
      return undefined
  }
}

const mergeJson: Merge = (before, change) =>
  isPlainObject(change) ? mergeProperties(before, Object.entries(change), () => mergeJson) : change

const mergeOfObjects = (ast: SchemaAST.Objects): Merge => {
  const named = new Map(ast.propertySignatures.map(({ name, type }) => [String(name), type]))
  const [others] = ast.indexSignatures
  const merge = (key: string): Merge | undefined => {
    const type = named.get(key) ?? others?.type
    return type === undefined ? undefined : mergeOfAst(type)
  }
  return (before, change) => isPlainObject(change) ? mergeProperties(before, Object.entries(change), merge) : change
}
