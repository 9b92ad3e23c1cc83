/**
 * Finds undeclared keys of a body. A registration with `onExcessProperty: "error"` rejects them, at every depth.
 *
 * In a union, the members that accept the value determine its keys.
 */
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import {
  type bodyDecoder,
  type FieldProblem,
  limitProblems,
  type ModelLike,
  modelOf
} from "../../Model/introspection.ts"
import { shownKeys } from "../description/ignoredKeys.ts"

type Decode = ReturnType<typeof bodyDecoder>

/**
 * Decodes a body with `decode`, and rejects undeclared keys.
 *
 * @internal
 */
export const refusingExcess = (schema: Schema.Struct<Schema.Struct.Fields>, decode: Decode): Decode => {
  // Fields need no services.
  const excessIn = finderOf(Schema.toCodecJson(schema as unknown as Schema.Codec<unknown>).ast)
  return (body) => {
    const decoded = decode(body)
    const excess = excessIn?.(body, "") ?? []
    if (excess.length === 0) return decoded
    return {
      _tag: "Invalid",
      problems: limitProblems([...excess, ...(decoded._tag === "Valid" ? [] : decoded.problems)])
    }
  }
}

/**
 * The problem of a key that a model does not declare.
 *
 * @internal
 */
export const excessProblem = (field: string): FieldProblem => ({
  field,
  validator: "Unknown",
  message: "is not a field of the model"
})

// internal

type Find = (value: unknown, path: string) => ReadonlyArray<FieldProblem>

/** `undefined` if the schema accepts any key. */
const finderOf = (ast: SchemaAST.AST, whose?: ModelLike): Find | undefined => {
  // The struct of a class does not refer to its model.
  const model = modelOf(ast) ?? whose
  const end = ast.encoding?.at(-1)
  if (end !== undefined) return finderOf(end.to, model)
  switch (ast._tag) {
    case "Objects":
      return ofObject(ast, model)
    case "Arrays":
      return ofList(ast)
    case "Union":
      return ofUnion(ast)
    case "Suspend":
      return (value, path) => {
        const inner = ast.thunk()
        const known = suspended.get(inner) ?? { find: finderOf(inner) }
        suspended.set(inner, known)
        return known.find?.(value, path) ?? []
      }
    default:
      return undefined
  }
}

/** Caches the finders of recursive schemas. */
const suspended = new WeakMap<SchemaAST.AST, { readonly find: Find | undefined }>()

const ofObject = (ast: SchemaAST.Objects, model: ModelLike | undefined): Find | undefined => {
  const finders = new Map(ast.propertySignatures.map(({ name, type }) => [String(name), finderOf(type)] as const))
  const [others, ...more] = ast.indexSignatures.map(({ type }) => finderOf(type))
  // An empty struct accepts any object.
  const isOpen = ast.indexSignatures.length > 0 || finders.size === 0
  const isFree = isOpen && others === undefined && Array.from(finders.values()).every((find) => find === undefined)
  if (isFree || more.length > 0) return undefined
  const ignored = new Set(model === undefined ? [] : [...shownKeys, ...Object.keys(model.store.fields)])
  const problemOf = model === undefined ? unexpected : excessProblem
  return (value, path) =>
    typeof value !== "object" || value === null || Array.isArray(value) ? [] : Object.entries(value).flatMap(
      ([key, part]) =>
        finders.has(key)
          ? finders.get(key)?.(part, `${path}${key}.`) ?? []
          : isOpen
          ? others?.(part, `${path}${key}.`) ?? []
          : ignored.has(key)
          ? []
          : [problemOf(`${path}${key}`)]
    )
}

const unexpected = (field: string): FieldProblem => ({ ...excessProblem(field), message: "is not a field here" })

const ofList = ({ elements, rest }: SchemaAST.Arrays): Find | undefined => {
  const first = elements.map((ast) => finderOf(ast))
  const [others] = rest.map((ast) => finderOf(ast))
  return others === undefined && first.every((find) => find === undefined)
    ? undefined
    : (value, path) =>
      Array.isArray(value)
        ? value.flatMap((item: unknown, i) => (i < first.length ? first[i] : others)?.(item, `${path}${i}.`) ?? [])
        : []
}

const ofUnion = ({ types }: SchemaAST.Union): Find | undefined => {
  const members = types.map((type) => ({ find: finderOf(type), takes: takerOf(type) }))
  const finders = members.flatMap(({ find }) => find ?? [])
  if (finders.length === 0) return undefined
  // An optional value may be `null`, which has no keys.
  if (finders.length === 1 && types.every((type, i) => members[i]!.find !== undefined || isNull(type))) {
    return finders[0]
  }
  return (value, path) => {
    const found = members.flatMap(({ find, takes }) => takes(value) ? [find?.(value, path) ?? []] : [])
    return found.find((excess) => excess.length === 0) ?? found[0] ?? []
  }
}

const isNull = ({ _tag }: SchemaAST.AST): boolean => _tag === "Null"

const takerOf = (ast: SchemaAST.AST): (value: unknown) => boolean => {
  // The members of a codec are codecs.
  const decode = SchemaParser.decodeUnknownExit(Schema.make<Schema.Codec<unknown>>(ast))
  return (value) => decode(value)._tag === "Success"
}
