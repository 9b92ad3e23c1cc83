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
  fold,
  limitProblems,
  type ModelLike,
  modelOf,
  typeAt
} from "../../Model/internal.ts"
import { shownKeys } from "../description/ignoredKeys.ts"

type Decode = ReturnType<typeof bodyDecoder>

/** Decodes a body with `decode`, and rejects undeclared keys. */
export const rejectExcess = (schema: Schema.Top, decode: Decode): Decode => {
  // Fields need no services.
  const excessIn = excessFinder(Schema.toCodecJson(schema as unknown as Schema.Codec<unknown>).ast)
  return (body, isNext) => {
    const decoded = decode(body, isNext)
    const excess = excessIn?.(body, "") ?? []
    if (excess.length === 0) return decoded
    return {
      _tag: "Invalid",
      problems: limitProblems([...excess, ...(decoded._tag === "Valid" ? [] : decoded.problems)])
    }
  }
}

/** The problem of a key that a model does not declare. */
export const excessProblem = (field: string): FieldProblem => ({
  field,
  validator: "Unknown",
  message: "is not a field of the model"
})

// internal

type FindExcess = (value: unknown, path: string) => ReadonlyArray<FieldProblem>

/** `undefined` if the schema accepts any key. */
const excessFinder: (ast: SchemaAST.AST) => FindExcess | undefined = fold<FindExcess | undefined>({
  first: (ast, byCase) => {
    const [end, model] = encodedEnd(ast)
    return end._tag === "Objects" ? objectFinder(end, model) : end === ast ? byCase() : excessFinder(end)
  },
  Arrays: (ast) => listFinder(ast),
  Union: (ast) => unionFinder(ast),
  Suspend: (inner) => (value, path) => inner()?.(value, path) ?? [],
  otherwise: () => undefined
})

/** The node that values are sent as, and its model, to which the struct of a class does not refer itself. */
const encodedEnd = (ast: SchemaAST.AST, owner?: ModelLike): readonly [SchemaAST.AST, ModelLike | undefined] => {
  const model = modelOf(ast) ?? owner
  const end = ast.encoding?.at(-1)
  return end === undefined ? [ast, model] : encodedEnd(end.to, model)
}

const objectFinder = (ast: SchemaAST.Objects, model: ModelLike | undefined): FindExcess | undefined => {
  const finders = new Map(ast.propertySignatures.map(({ name, type }) => [String(name), excessFinder(type)] as const))
  const [others, ...more] = ast.indexSignatures.map(({ type }) => excessFinder(type))
  // An empty struct accepts any object.
  const isOpen = ast.indexSignatures.length > 0 || finders.size === 0
  const acceptsAnything = isOpen && others === undefined &&
    Array.from(finders.values()).every((find) => find === undefined)
  if (acceptsAnything || more.length > 0) return undefined
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

const listFinder = (ast: SchemaAST.Arrays): FindExcess | undefined => {
  if ([...ast.elements, ...ast.rest].every((part) => excessFinder(part) === undefined)) return undefined
  const excessAt = (item: unknown, i: number, length: number, path: string) => {
    const type = typeAt(ast, i, length)
    return type === undefined ? [] : excessFinder(type)?.(item, `${path}${i}.`) ?? []
  }
  return (value, path) =>
    Array.isArray(value)
      ? value.flatMap((item: unknown, i) => excessAt(item, i, value.length, path))
      : []
}

const unionFinder = ({ types }: SchemaAST.Union): FindExcess | undefined => {
  const members = types.map((type) => ({ find: excessFinder(type), accepts: acceptorOf(type) }))
  const finders = members.flatMap(({ find }) => find ?? [])
  if (finders.length === 0) return undefined
  // An optional value may be `null`, which has no keys.
  if (finders.length === 1 && types.every((type, i) => members[i]!.find !== undefined || isNull(type))) {
    return finders[0]
  }
  return (value, path) => {
    const results = members.flatMap(({ find, accepts }) => accepts(value) ? [find?.(value, path) ?? []] : [])
    return results.find((excess) => excess.length === 0) ?? results[0] ?? []
  }
}

const isNull = ({ _tag }: SchemaAST.AST): boolean => _tag === "Null"

const acceptorOf = (ast: SchemaAST.AST): (value: unknown) => boolean => {
  // The members of a codec are codecs.
  const decode = SchemaParser.decodeUnknownExit(Schema.make<Schema.Codec<unknown>>(ast))
  return (value) => decode(value)._tag === "Success"
}
