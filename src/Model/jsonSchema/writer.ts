/** Writes the JSON schema of a model for the wire or the store, with definitions or inlined. */
import { escapeToken } from "effect/JsonPointer"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { type FileRules, temporalKind } from "../shape/annotations.ts"
import { isOfOneType } from "../shape/nodes.ts"
import { referenceOf } from "../shape/references.ts"
import { jsonLinkOf, nameOf } from "../shape/storedForm.ts"
import { isRequiredInput, type ModelLike, modelOf, modelTypeId } from "../shape/variants.ts"
import * as Node from "./keywords.ts"

type JsonSchema = Node.JsonSchema

/** Which form of a model to describe, and how. */
export interface Form {
  /**
   * The wire form describes JSON, with named schemas under `definitions`. The stored form describes BSON with the
   * identifier `_id` and inlines all schemas; a recursive reference is reduced to its type.
   */
  readonly variant: "wire" | "store"
  /** Whether objects may have undeclared properties. */
  readonly additionalProperties: boolean
}

/** The draft-04 schema of a model's documents. In the stored form, `type` may also be a BSON type. */
export const describeModel = (model: ModelLike, { additionalProperties, variant }: Form): JsonSchema => {
  const root = identityOf(model)
  const isWire = variant === "wire"
  const { definitions, schemaFor } = isWire ? withDefinitions(root) : inlined(root)
  const schema = writeModel({ root, isWire, additionalProperties, schemaFor }, model, model[variant].ast)
  const defined = definitions()
  return Object.keys(defined).length === 0 ? schema : { ...schema, definitions: defined }
}

/** What the functions that write a schema share while they describe one model. */
interface SchemaWriter extends Pick<DefinitionStrategy, "schemaFor"> {
  /** The identity of the described model. */
  readonly root: object
  readonly isWire: boolean
  readonly additionalProperties: boolean
}

/** `name` applies to an object without an identifier. It is no fold, since a node's schema depends on the name. */
const write = (writer: SchemaWriter, ast: SchemaAST.AST, name?: string): JsonSchema => {
  const reference = referenceOf(ast)
  const schema = writeAny(writer, ast, name)
  return reference === undefined || "description" in schema
    ? schema
    : { ...schema, description: `Refers to ${reference.target().modelName}.` }
}

const writeAny = (writer: SchemaWriter, ast: SchemaAST.AST, name: string | undefined): JsonSchema => {
  const inner = modelOf(ast)
  const encoded = Node.encodedEnd(ast)
  if (inner !== undefined && encoded._tag === "Objects") {
    return writer.schemaFor(identityOf(inner), "object", inner.modelName, () => writeModel(writer, inner, encoded))
  }
  const own = SchemaAST.resolveIdentifier(ast) ?? name
  if (ast.encoding !== undefined) return withTexts(write(writer, ast.encoding.at(-1)!.to, own), SchemaAST.resolve(ast))
  if (ast._tag === "Suspend") return write(writer, ast.thunk(), own)
  if (ast._tag === "Declaration") return writer.isWire ? writeDeclared(writer, ast, own) : bsonSchemaOf(ast)
  return writer.schemaFor(
    ast,
    kindOf(ast),
    ast._tag === "Objects" ? own : SchemaAST.resolveIdentifier(ast),
    () => writeNode(writer, ast)
  )
}

const writeModel = (
  writer: SchemaWriter,
  owner: ModelLike,
  { checks, propertySignatures }: SchemaAST.Objects
): JsonSchema => {
  const isRoot = identityOf(owner) === writer.root
  const members = propertySignatures.map(({ name, type }) => {
    const field = String(name)
    const { file, managed, optional } = owner[modelTypeId][field] ?? {}
    const member = optional === true ? Node.nullable(writeMember(writer, type)) : writeMember(writer, type)
    return {
      key: !writer.isWire && isRoot && managed === "id" ? "_id" : field,
      schema: file === undefined ? member : withContent(member, file),
      // Callers need not send `_type` or values that the server supplies. Stored documents have both.
      isRequired: writer.isWire ? isRequiredInput(owner, field) : !SchemaAST.isOptional(Node.encodedEnd(type))
    }
  })
  const own: ReadonlyArray<[string, JsonSchema]> = members.map(({ key, schema }) => [key, schema])
  const required = members.flatMap(({ isRequired, key }) => isRequired ? [key] : [])
  // The framework and the store add properties to documents that are not declared fields.
  const reserved: ReadonlyArray<[string, JsonSchema]> = !isRoot || writer.additionalProperties
    ? []
    : writer.isWire
    ? [["_links", links]]
    : own.some(([key]) => key === "_id")
    ? []
    : [["_id", {}]]
  return Node.constrained({
    type: "object",
    properties: Object.fromEntries([...own, ...reserved]),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: writer.additionalProperties
  }, { annotations: undefined, checks })
}

/** Says which types the files of a field have: draft-04 has no keyword for it. */
const withContent = (schema: JsonSchema, { types }: FileRules): JsonSchema =>
  types.length === 0 ? schema : {
    ..."$ref" in schema ? { allOf: [schema] } : schema,
    description: `A file of ${types.join(" or ")}`
  }

const writeMember = (writer: SchemaWriter, type: SchemaAST.AST): JsonSchema =>
  withTexts(write(writer, type), Node.encodedEnd(type).context?.annotations)

const writeDeclared = (writer: SchemaWriter, ast: SchemaAST.Declaration, name: string | undefined): JsonSchema => {
  const temporal = ast.annotations?.[temporalKind]
  if (temporal !== undefined) return temporal === "date" ? date : dateTime
  const json = jsonLinkOf(ast)?.link?.to
  return json === undefined ? {} : write(writer, json, name)
}

const writeNode = (writer: SchemaWriter, ast: SchemaAST.AST): JsonSchema => {
  switch (ast._tag) {
    case "Null":
    case "Undefined":
    case "Void":
      return Node.constrained({ type: "null" }, ast)
    case "Any":
    case "Unknown":
      return Node.constrained({}, ast)
    case "String":
      return Node.constrained({ type: "string" }, ast)
    case "Boolean":
      return Node.constrained({ type: "boolean" }, ast)
    case "Number":
      return writer.isWire ? numberAsJson(ast) : Node.constrained({ type: "number" }, ast)
    case "Arrays":
      return Node.constrained(writeArrays(writer, ast), ast)
    case "Objects":
      return Node.constrained(writeObjects(writer, ast), ast)
    default: {
      const literals = Node.literalsOf(ast)
      if (literals !== undefined) {
        return !writer.isWire && literals.some(Predicate.isBigInt) ? {} : Node.enumeration(literals, ast)
      }
      if (ast._tag !== "Union") return describedAsJson(ast)
      return Node.constrained(Node.alternatives(ast.types.map((type) => write(writer, type))), ast)
    }
  }
}

const writeArrays = (writer: SchemaWriter, ast: SchemaAST.Arrays): JsonSchema => {
  const { elements, rest } = ast
  const others = rest[0] === undefined ? undefined : write(writer, rest[0])
  if (others !== undefined && isOfOneType(ast)) {
    return { type: "array", items: others, ...(elements.length === 0 ? {} : { minItems: elements.length }) }
  }
  const first = elements.filter((element) => !SchemaAST.isOptional(Node.encodedEnd(element))).length
  return {
    type: "array",
    ...(elements.length === 0 ? {} : { items: elements.map((element) => writeMember(writer, element)) }),
    ...(others === undefined
      ? { minItems: first, maxItems: elements.length }
      // Draft-04 can't describe the last elements separately.
      : { minItems: first + rest.length - 1, additionalItems: rest.length === 1 ? others : true })
  }
}

const writeObjects = (
  writer: SchemaWriter,
  { indexSignatures, propertySignatures }: SchemaAST.Objects
): JsonSchema => {
  if (propertySignatures.length === 0 && indexSignatures.length === 0) return { not: { type: "null" } }
  const properties = propertySignatures.map(({ name, type }) => [String(name), writeMember(writer, type)])
  const required = propertySignatures.flatMap(({ name, type }) =>
    SchemaAST.isOptional(Node.encodedEnd(type)) ? [] : [String(name)]
  )
  const records = indexSignatures.map(({ parameter, type }) => ({
    keys: Node.recordKeys(parameter),
    value: write(writer, type)
  }))
  const byPattern = records.flatMap(({ keys, value }) =>
    Predicate.isString(keys) ? [] : keys.map((pattern) => [pattern, value])
  )
  const ofAny = records.flatMap(({ keys, value }) => keys === "any" ? [value] : [])
  const isRecord = properties.length === 0 && records.length === 1 && ofAny.length === 1
  return {
    type: "object",
    ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
    ...(required.length === 0 ? {} : { required }),
    ...(byPattern.length === 0 ? {} : { patternProperties: Object.fromEntries(byPattern) }),
    additionalProperties: isRecord
      ? ofAny[0]
      : writer.additionalProperties || records.some(({ keys }) => Predicate.isString(keys)),
    // An index signature applies to all keys, including those with a declared property.
    ...(isRecord || ofAny.length === 0
      ? {}
      : { allOf: ofAny.map((value) => ({ type: "object", additionalProperties: value })) })
  }
}

/** A class and the classes it extends share this object. */
const identityOf = (model: ModelLike): object => model.wire

interface DefinitionStrategy {
  /** Writes the schema of `key` in place, or writes a reference to its definition. */
  readonly schemaFor: (
    key: object,
    kind: string | undefined,
    name: string | undefined,
    write: () => JsonSchema
  ) => JsonSchema
  readonly definitions: () => { readonly [name: string]: JsonSchema }
}

/** Inlines every schema. A recursive reference would never end, so it is reduced to its type. */
const inlined = (root: object): DefinitionStrategy => {
  const ancestors = new Set([root])
  return {
    schemaFor: (key, kind, _, write) => {
      if (ancestors.has(key)) return kind === undefined ? {} : { type: kind }
      ancestors.add(key)
      const schema = write()
      ancestors.delete(key)
      return schema
    },
    definitions: () => ({})
  }
}

interface Definition {
  readonly key: object
  readonly preferredName: string
  ref: string | undefined
  schema: JsonSchema | undefined
}

/** Defines each named or recursive schema once and refers to it. */
const withDefinitions = (root: object): DefinitionStrategy => {
  const entries: Array<Definition> = [{ key: root, preferredName: "", ref: "#", schema: undefined }]
  const named = new Map<string, Definition>()
  const refer = (definition: Definition): JsonSchema => {
    if (definition.ref === undefined) {
      let name = definition.preferredName
      for (let i = 1; named.has(name); i++) name = `${definition.preferredName}_${i}`
      named.set(name, definition)
      definition.ref = `#/definitions/${encodeURIComponent(escapeToken(name))}`
    }
    return { $ref: definition.ref }
  }
  return {
    schemaFor: (key, _, name, write) => {
      const existing = entries.find((definition) => definition.key === key)
      if (existing !== undefined) return refer(existing)
      const definition: Definition = { key, preferredName: name ?? "Recursive", ref: undefined, schema: undefined }
      entries.push(definition)
      const schema = write()
      const isAnonymous = name === undefined && definition.ref === undefined
      // The same schema has another syntax tree where it is optional.
      const text = JSON.stringify(schema)
      const duplicate = isAnonymous
        ? undefined
        : entries.find((other) => other.preferredName === name && JSON.stringify(other.schema) === text)
      if (isAnonymous || duplicate !== undefined) {
        entries.splice(entries.indexOf(definition), 1)
        return duplicate === undefined ? schema : refer(duplicate)
      }
      definition.schema = schema
      return refer(definition)
    },
    definitions: () =>
      Object.fromEntries([...named].flatMap(([name, { schema }]) => schema === undefined ? [] : [[name, schema]]))
  }
}

const kindOf = (ast: SchemaAST.AST): string | undefined =>
  ast._tag === "Objects" ? "object" : ast._tag === "Arrays" ? "array" : undefined

/** A `$ref` may not have sibling keywords. */
const withTexts = (schema: JsonSchema, annotations: SchemaAST.AST["annotations"]): JsonSchema => {
  const { description, title } = annotations ?? {}
  return "$ref" in schema ? schema : {
    ...schema,
    ...(Predicate.isString(title) ? { title } : {}),
    ...(Predicate.isString(description) ? { description } : {})
  }
}

const describedAsJson = (ast: SchemaAST.AST): JsonSchema =>
  Result.getOrElse(Node.effectSchemaOf(ast), (): JsonSchema => ({}))

/** Non-finite numbers are written as text, unless checks exclude them. */
const numberAsJson = (ast: SchemaAST.Number): JsonSchema => {
  const isValid = Schema.is(Schema.make(ast))
  const names = ["NaN", "Infinity", "-Infinity"].filter((name) => isValid(Number(name)))
  const number = Node.constrained({ type: "number" }, ast)
  return names.length === 0 ? number : Node.alternatives([number, { type: "string", enum: names }])
}

/** The BSON type of a declared type, which its annotation `bsonType` defines. */
const bsonSchemaOf = (ast: SchemaAST.Declaration): JsonSchema => {
  const { bsonType, [temporalKind]: temporal } = ast.annotations ?? {}
  // Other programs may have stored an int.
  if (bsonType === "long") return { type: ["int", "long"] }
  if (Predicate.isString(bsonType)) return { type: bsonType }
  return temporal !== undefined || nameOf(ast) === "effect/schema/Date" ? { type: "date" } : {}
}

const links: JsonSchema = {
  type: "object",
  additionalProperties: {
    type: "object",
    properties: {
      href: { type: "string" },
      methods: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
      args: { type: "array", items: { type: "string" } }
    },
    required: ["href"]
  }
}

// The days of the calendar: in months of 31, of 30 and of 28 days, and 29 February in leap years.
const days = [
  "[0-9]{4}-(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])",
  "[0-9]{4}-(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)",
  "[0-9]{4}-02-(?:0[1-9]|1[0-9]|2[0-8])",
  "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29"
].join("|")
const hours = "(?:[01][0-9]|2[0-3])"
const minutes = "[0-5][0-9]"

const date: JsonSchema = { type: "string", format: "date", pattern: `^(?:${days})$` }

const dateTime: JsonSchema = {
  type: "string",
  format: "date-time",
  description: "An ISO 8601 date-time, in UTC unless it has a zone",
  pattern: `^(?:${days})[T ]${hours}:${minutes}(?::${minutes}(?:\\.[0-9]{1,9})?)?(?:[Zz]|[+-]${hours}:?${minutes})?$`
}
