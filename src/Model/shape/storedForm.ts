/**
 * Derives how values of any schema are stored: as the matching BSON type, otherwise through the schema's canonical JSON
 * codec.
 *
 * A schema stays unchanged if its values are stored as they are, or if it defines its stored form itself.
 */
import * as Exit from "effect/Exit"
import { memoizeIdempotent } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaParser from "effect/SchemaParser"
import { isPlainObject } from "../../internal/objects.ts"
import { storableAnnotation, temporalKind } from "./annotations.ts"
import * as Bson from "./bsonKinds.ts"
import { childrenOf, mapParts, nodesIn, withParts } from "./nodes.ts"

/** The node whose encoded side is the stored form. It is no fold, since a form is its own form. */
export const storedForm: (ast: SchemaAST.AST) => SchemaAST.AST = memoizeIdempotent((ast) => formOf(ast))

const formOf = (ast: SchemaAST.AST): SchemaAST.AST => {
  const last = ast.encoding?.at(-1)
  if (ast.encoding !== undefined && last !== undefined) {
    // What a codec gives may be anything, and what a field of `Schema.Any` holds is up to the program.
    const to = last.to._tag === "Any" ? withJsonCheck(last.to) : storedForm(last.to)
    return to === last.to
      ? ast
      : withEncodableCheck(
        withParts(ast, { encoding: [...ast.encoding.slice(0, -1), new SchemaAST.Link(to, last.transformation)] })
      )
  }
  switch (ast._tag) {
    case "Declaration":
      return declaredForm(ast)
    case "BigInt":
      return linked(ast, Bson.long, Bson.fitsLong)
    case "Unknown":
    case "ObjectKeyword":
      return withJsonCheck(ast)
    case "Undefined":
    case "Void":
      return asJson(ast)
    case "Literal":
      return typeof ast.literal === "bigint" ? asJson(ast) : ast
    case "Arrays":
    case "Suspend":
      return mapParts(ast, storedForm)
    case "Objects":
      return objectsForm(ast)
    case "Union":
      return unionForm(ast)
    default:
      return ast
  }
}

/** Whether a declared type defines its BSON type. */
export const isBson = ({ annotations }: SchemaAST.AST): boolean =>
  Predicate.isString(annotations?.["bsonType"]) || annotations?.[temporalKind] !== undefined

/** The identifier of one of Effect's declared types or checks. */
export const nameOf = ({ annotations }: Pick<SchemaAST.AST, "annotations">): unknown => {
  const representation: unknown = annotations?.["representation"]
  return Predicate.hasProperty(representation, "id") ? representation.id : undefined
}

/** How a declared type becomes JSON: `undefined` if it has no form, without a link if it is JSON already. */
export const jsonLinkOf = (ast: SchemaAST.Declaration): { readonly link?: SchemaAST.Link | undefined } | undefined => {
  const make: unknown = ast.annotations?.["toCodecJson"] ?? ast.annotations?.["toCodec"]
  if (!Predicate.isFunction(make)) return undefined
  // These annotations hold a function of the encoded type parameters.
  const link = make(ast.typeParameters.map((part) => Schema.make(SchemaAST.toEncoded(part)))) as
    | SchemaAST.Link
    | undefined
  return { link }
}

/** Whether JSON has the value: plain objects and lists, none within itself, no deeper than a document may be. */
const isJsonValue = (value: unknown, outer: Array<unknown>): boolean => {
  if (typeof value !== "object" || value === null) {
    return value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)
  }
  if (outer.length >= maxDepth || outer.includes(value)) return false
  if (!Array.isArray(value) && !isPlainObject(value)) return false
  outer.push(value)
  const isValid = Object.values(value).every((part) => isJsonValue(part, outer))
  outer.pop()
  return isValid
}

const maxDepth = 180

const isJson = Schema.makeFilter((value: unknown) => isJsonValue(value, []), {
  expected: "a JSON value",
  [storableAnnotation]: true
})

const withJsonCheck = (ast: SchemaAST.AST): SchemaAST.AST => withParts(ast, { checks: [...ast.checks ?? [], isJson] })

/** Keeps an optional property optional in the store. */
const linked = (ast: SchemaAST.AST, link: SchemaAST.Link, check?: SchemaAST.Check<never>): SchemaAST.AST => {
  const to = SchemaAST.isOptional(ast) ? Schema.optionalKey(Schema.make<Schema.Top>(link.to)).ast : link.to
  return withParts(ast, {
    encoding: [new SchemaAST.Link(to, link.transformation)],
    ...(check === undefined ? {} : { checks: [...ast.checks ?? [], check] })
  })
}

const asJson = (ast: SchemaAST.AST): SchemaAST.AST => Schema.toCodecJson(Schema.make<Schema.Top>(ast)).ast

const declaredForm = (ast: SchemaAST.Declaration): SchemaAST.AST => {
  if (isBson(ast)) return ast
  switch (nameOf(ast)) {
    case "effect/schema/Date":
      return ast
    case "effect/schema/DateTimeUtc":
      return linked(ast, Bson.moment)
    case "effect/schema/BigDecimal":
      return linked(ast, Bson.decimal, Bson.fitsDecimal)
    case "effect/schema/Uint8Array":
      return linked(ast, Bson.bytes)
  }
  const link = jsonLinkOf(ast)?.link
  if (link === undefined) return ast
  const stored = new SchemaAST.Link(storedForm(link.to), link.transformation)
  return withEncodableCheck(linked(ast, nameOf(ast) === "effect/schema/Redacted" ? unredacted(stored) : stored))
}

/** The check that accepts only values which can be stored; `undefined` if all can. */
export const storableCheckOf = (form: SchemaAST.AST): SchemaAST.Check<never> | undefined =>
  form.checks?.find(isStorable) ?? (isPartlyStorable(form) ? isEncodable(form) : undefined)

/** Adds a check to the node if a part of its stored form is restricted. */
const withEncodableCheck = <A extends SchemaAST.AST>(ast: A): A =>
  isPartlyStorable(ast.encoding!.at(-1)!.to)
    ? withParts(ast, { checks: [...ast.checks ?? [], isEncodable(ast)] })
    : ast

const isEncodable = (ast: SchemaAST.AST): SchemaAST.Check<unknown> => {
  let encode: ((value: unknown) => Exit.Exit<unknown, unknown>) | undefined
  return Schema.makeFilter((value: unknown) => {
    // A field may be encoded to a missing property.
    encode ??= SchemaParser.encodeUnknownExit(Schema.Struct({ value: Schema.make<Schema.Codec<unknown>>(ast) }))
    return Exit.isSuccess(encode({ value }))
  }, { expected: "a value that can be stored", [storableAnnotation]: true })
}

const isStorable = ({ annotations }: SchemaAST.Check<never>): boolean => annotations?.[storableAnnotation] === true

const isPartlyStorable = (ast: SchemaAST.AST): boolean =>
  nodesIn(ast, (node) => childrenOf(node, false)).some(({ checks }) => checks?.some(isStorable) === true)

/** Only the JSON form of a redacted value may be forbidden. The store gets the value itself. */
const unredacted = ({ to, transformation }: SchemaAST.Link): SchemaAST.Link =>
  Schema.link<Redacted.Redacted<unknown>>()(Schema.make<Schema.Top>(to), {
    // The link holds a getter on each side, never a middleware.
    decode: transformation.decode as SchemaGetter.Getter<Redacted.Redacted<unknown>, unknown>,
    encode: SchemaGetter.transform(Redacted.value)
  })

const objectsForm = (ast: SchemaAST.Objects): SchemaAST.AST => {
  // Keys that are not strings are encoded as they are in JSON.
  if (ast.indexSignatures.some(({ parameter }) => !isStringKey(SchemaAST.toEncoded(parameter)))) return asJson(ast)
  return mapParts(ast, storedForm)
}

const isStringKey = (ast: SchemaAST.AST): boolean =>
  ast._tag === "String" || ast._tag === "TemplateLiteral" ||
  ast._tag === "Literal" && typeof ast.literal === "string" || ast._tag === "Union" && ast.types.every(isStringKey)

/** A number does not tell its BSON type, so a union of several number types is stored as JSON. */
const unionForm = (ast: SchemaAST.Union): SchemaAST.AST => {
  const form = mapParts(ast, storedForm)
  if (form === ast) return ast
  const kinds = new Set(childrenOf(form, false).flatMap(numberTypesOf))
  return kinds.size > 1 ? asJson(ast) : form
}

const numberTypesOf = (ast: SchemaAST.AST): ReadonlyArray<unknown> => {
  const end = SchemaAST.toEncoded(ast)
  switch (end._tag) {
    case "Number":
      return ["number"]
    case "Literal":
      return typeof end.literal === "number" ? ["number"] : []
    case "Enum":
      return end.enums.some(([, value]) => typeof value === "number") ? ["number"] : []
    case "Union":
      return end.types.flatMap(numberTypesOf)
    case "Declaration":
      return numericBsonTypes.has(end.annotations?.["bsonType"]) ? [end.annotations?.["bsonType"]] : []
    default:
      return []
  }
}

const numericBsonTypes: ReadonlySet<unknown> = new Set(["long", "decimal"])
