import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaGetter from "effect/SchemaGetter"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { staysAbsent } from "../codec/decoder.ts"
import { withParts } from "../shape/nodes.ts"
import { nameOf } from "../shape/storedForm.ts"
import { modelOf } from "../shape/variants.ts"

/**
 * Makes of a value what a JSON merge patch (RFC 7396) makes of it.
 *
 * @internal
 */
export type Merge = (before: unknown, change: unknown) => unknown

/**
 * The schema of what a JSON merge patch (RFC 7396) may say of a value: of a struct some of its fields, of a record some of
 * its keys, each with `null` for what is removed; at every depth. Checks of objects are left out, since they hold of the
 * merged value only.
 *
 * **Details**
 *
 * A value that a schema makes of an object by a transformation, such as an instance of a class or a map, has no parts
 * that could be named: it is replaced as a whole. So are lists. Of a union of several kinds of objects, anything that is
 * JSON may be said. Models have a schema of their own for it.
 *
 * @internal
 */
export const mergePatchOf = (schema: Schema.Top): Schema.Top => {
  const known = patches.get(schema.ast)
  if (known !== undefined) return known
  const made = makePatch(schema.ast) ?? (staysAbsent(schema.ast) ? schema : ifThere(schema))
  patches.set(schema.ast, made)
  return made
}

/**
 * How a merge patch changes values of the schema, both as instances hold them; `undefined` where it replaces them.
 *
 * @internal
 */
export const mergeOf = (schema: Schema.Top): Merge | undefined => mergeOfAst(schema.ast)

/**
 * Whether the value is an object whose parts can be named, and no instance of anything.
 *
 * @internal
 */
export const isPlain = (value: unknown): value is { readonly [key: string]: unknown } => {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * Changes the parts of an object that are named: `null` removes one, `undefined` says nothing. What is no object has no
 * parts. A part of any name is one, `__proto__` included.
 *
 * @internal
 */
export const mergeParts = (
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

/** What a schema makes of nothing is none of a patch's business: a field that a patch does not name stays as it is. */
const ifThere = (schema: Schema.Top): Schema.Top => {
  // Fields need no services.
  const whole = Schema.Struct({ value: schema }) as unknown as Schema.Codec<{ readonly value?: unknown }>
  const [decode, encode] = [SchemaParser.decodeUnknownEffect(whole), SchemaParser.encodeUnknownEffect(whole)]
  const sent = Schema.make<Schema.Top>(withParts(SchemaAST.toEncoded(schema.ast), { context: undefined }))
  // oxlint-disable-next-line eslint/no-unused-vars -- any value at all, also one that has no JSON
  return sent.pipe(Schema.decodeTo(Schema.declare((_): _ is unknown => true), {
    decode: SchemaGetter.transformEffect((value: unknown) => valueOf(decode({ value }))),
    encode: SchemaGetter.transformEffect((value: unknown) => valueOf(encode({ value })))
  }))
}

const valueOf = (whole: Effect.Effect<{ readonly value?: unknown }, SchemaIssue.Issue>) =>
  Effect.mapBothEager(whole, { onSuccess: ({ value }) => value, onFailure: issueAlone })

/** What is wrong with the value of the only field. */
const issueAlone = (issue: SchemaIssue.Issue): SchemaIssue.Issue =>
  issue._tag === "Composite" && issue.issues.length === 1
    ? issueAlone(issue.issues[0])
    : issue._tag === "Pointer"
    ? issue.issue
    : issue

const makePatch = (ast: SchemaAST.AST): Schema.Top | undefined => {
  if (isWhole(ast)) return undefined
  switch (ast._tag) {
    case "Objects":
      return patchOfObjects(ast)
    case "Union": {
      const objects = ast.types.filter(hasParts)
      if (objects.length === 0) return undefined
      if (objects.length === 1) return Schema.Union(ast.types.map((type) => mergePatchOf(Schema.make(type))))
      return isJson(ast) ? Schema.Json : undefined
    }
    case "Suspend":
      return Schema.suspend(() => mergePatchOf(Schema.make(ast.thunk())))
    default:
      return undefined
  }
}

const patchOfObjects = (ast: SchemaAST.Objects): Schema.Top => {
  const records = ast.indexSignatures.map(({ parameter, type }) =>
    // An index signature is read by what may be a record's key.
    Schema.Record(Schema.make<Schema.Record.Key>(parameter), partPatchOf(type))
  )
  const [record] = records
  const fields = Object.fromEntries(
    ast.propertySignatures.map(({ name, type }) => [name, Schema.optionalKey(partPatchOf(type))])
  )
  const patch: Schema.Top = record === undefined
    ? Schema.Struct(fields)
    : ast.propertySignatures.length === 0 && records.length === 1
    ? record
    : Schema.StructWithRest(Schema.Struct(fields), records)
  const identifier: unknown = ast.annotations?.["identifier"]
  return typeof identifier === "string" ? patch.annotate({ identifier: `${identifier}Patch` }) : patch
}

/** `null` stands first, so that it is never read as anything else. */
const partPatchOf = (type: SchemaAST.AST): Schema.Top => Schema.Union([Schema.Null, mergePatchOf(Schema.make(type))])

/** Whether values are replaced as a whole because they are made of something else, or because they are models. */
const isWhole = (ast: SchemaAST.AST): boolean => ast.encoding !== undefined || modelOf(ast) !== undefined

/** Whether any object of JSON is a value. */
const isFree = (ast: SchemaAST.AST): boolean =>
  ast._tag === "Unknown" || ast._tag === "Any" || ast._tag === "ObjectKeyword" ||
  nameOf(ast) === "effect/schema/Json" || nameOf(ast) === "effect/schema/MutableJson"

/** Whether values may be objects with parts. */
const hasParts = (ast: SchemaAST.AST): boolean =>
  !isWhole(ast) &&
  (isFree(ast) || ast._tag === "Objects" || ast._tag === "Union" && ast.types.some(hasParts) || ast._tag === "Suspend")

/** Whether values are JSON themselves. */
const isJson = (ast: SchemaAST.AST, seen: ReadonlySet<SchemaAST.AST> = new Set()): boolean => {
  if (isWhole(ast)) return false
  if (isFree(ast) || seen.has(ast)) return true
  const inside = new Set([...seen, ast])
  switch (ast._tag) {
    case "Objects":
      return [...ast.propertySignatures, ...ast.indexSignatures].every(({ type }) => isJson(type, inside))
    case "Arrays":
      return [...ast.elements, ...ast.rest].every((type) => isJson(type, inside))
    case "Union":
      return ast.types.every((type) => isJson(type, inside))
    case "Suspend":
      return isJson(ast.thunk(), inside)
    case "Declaration":
      return false
    default:
      return true
  }
}

const merges = new WeakMap<SchemaAST.AST, { readonly merge: Merge | undefined }>()

const mergeOfAst = (ast: SchemaAST.AST): Merge | undefined => {
  const known = merges.get(ast)
  if (known !== undefined) return known.merge
  const merge = makeMerge(ast)
  merges.set(ast, { merge })
  return merge
}

const makeMerge = (ast: SchemaAST.AST): Merge | undefined => {
  if (isWhole(ast)) return undefined
  if (isFree(ast)) return mergeFreely
  switch (ast._tag) {
    case "Objects":
      return mergeOfObjects(ast)
    case "Union": {
      const objects = ast.types.filter(hasParts)
      return objects.length === 1
        ? mergeOfAst(objects[0]!)
        : objects.length > 1 && isJson(ast)
        ? mergeFreely
        : undefined
    }
    case "Suspend":
      return (before, change) => {
        const merge = mergeOfAst(ast.thunk())
        return merge === undefined ? change : merge(before, change)
      }
    default:
      return undefined
  }
}

const mergeFreely: Merge = (before, change) =>
  isPlain(change) ? mergeParts(before, Object.entries(change), () => mergeFreely) : change

const mergeOfObjects = (ast: SchemaAST.Objects): Merge => {
  const named = new Map(ast.propertySignatures.map(({ name, type }) => [String(name), type]))
  const [others] = ast.indexSignatures
  const merge = (key: string): Merge | undefined => {
    const type = named.get(key) ?? others?.type
    return type === undefined ? undefined : mergeOfAst(type)
  }
  return (before, change) => isPlain(change) ? mergeParts(before, Object.entries(change), merge) : change
}
