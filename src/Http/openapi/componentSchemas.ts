/** The component schemas of the OpenAPI document: derives, names, completes and shares them. */
import * as Context from "effect/Context"
import * as HttpApi from "effect/http-api/HttpApi"
import * as Schema from "effect/Schema"
import type * as SchemaRepresentation from "effect/SchemaRepresentation"
import { modelOf, modelsIn } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { ignoredKeysOf } from "../description/ignoredKeys.ts"
import * as Envelope from "../Envelope.ts"
import * as History from "../History.ts"
import type { Relation } from "../registration/relations.ts"
import type { FieldRules } from "./access.ts"
import { componentNames, namesOfParts, withoutLists } from "./componentNames.ts"
import { withDescribedSchemas } from "./describedEndpoints.ts"
import { errorMessageOf, errorSchema, isErrorWithoutFields, type Problems, problemSchemas } from "./errors.ts"
import {
  type BesideFields,
  describeComponent,
  describeEmbedded,
  formOf,
  generatedKeysOf,
  type ModelVariant
} from "./modelSchemas.ts"
import * as Document from "./node.ts"

type Node = Document.Node

/** The part of a registered resource that the document describes. */
export interface Resource {
  /** The name of the collection in the stream that watches several collections. */
  readonly name?: string | undefined
  readonly model: Model.Any
  /** Where the collection is: `/api/v1/users`. */
  readonly path: `/${string}`
  /** The methods of the registration, of which `GET` lets others embed its documents. Defaults to none. */
  readonly methods?: ReadonlyArray<string> | undefined
  /** Whether documents carry `_links`. */
  readonly enableHateoas: boolean
  /** Whether a `POST` may have a list of documents. Defaults to true. */
  readonly lists?: boolean | undefined
  /** How lists are tables; `undefined` if they are not. */
  readonly tables?: object | undefined
  /** The methods of many documents. Default to none. */
  readonly many?: ReadonlyArray<string> | undefined
  /** What a `POST` with a known identifier does. Defaults to what the limits say. */
  readonly onKnownId?: "replace" | "error" | undefined
  /** Whether files come in resumable uploads as well. */
  readonly files?: { readonly resumable?: boolean | undefined } | undefined
  readonly calls?: ReadonlyArray<{ readonly options?: object | undefined }>
}

/** The schemas of one document. */
export interface DocumentSchemas {
  /** The service with the schemas that every document has. */
  readonly api: HttpApi.Top
  /** Names the schemas that become components. */
  readonly referencePolicy: SchemaRepresentation.ReferencePolicy
  /** Completes the generated schemas. */
  readonly finish: (generated: Generated) => Finished
}

interface Generated {
  readonly paths: Node
  readonly components: { readonly schemas: Node }
}

interface Finished {
  /** The components by name: one for each distinct schema. */
  readonly components: Node
  /** The keys that callers read and can't send, by the component of an input. */
  readonly ignored: ReadonlyMap<string, ReadonlyArray<string>>
  /** The keys that the server generates if they are missing, by the component of an input. */
  readonly generated: ReadonlyMap<string, ReadonlyArray<string>>
  /** Completes an inline schema. */
  readonly complete: (schema: Node) => Node
  /** References to the schemas that every document has. */
  readonly known: Known
}

export interface Known {
  readonly errorMessage: Node
  readonly jsonPatch: Node
  readonly problemOf: Problems["problemOf"]
}

/** Derives the schemas of an `HttpApi` and of the models of `resources`. */
export const make = (
  api: HttpApi.Top,
  resources: ReadonlyArray<Resource>,
  rules: FieldRules,
  relations: (model: Model.Any) => ReadonlyArray<Relation>
): DocumentSchemas => {
  const models = new Set(resources.flatMap(({ model }) => modelsIn(model)))
  const documents = new Set(resources.map(({ model }) => model.modelName))
  const withoutLinks = new Set(resources.flatMap(({ enableHateoas, model }) => enableHateoas ? [] : [model]))
  for (const { enableHateoas, model } of resources) if (enableHateoas) withoutLinks.delete(model)
  const beside = (model: Model.Any): ReadonlyArray<BesideFields> => {
    const own = resources.filter((resource) => resource.model === model)
    const isEmbedding = relations(model).length > 0 && own.some(({ methods }) => methods?.includes("GET") === true)
    const isShownDeleted = own.some(({ calls = [] }) =>
      calls.some(({ options = {} }) => History.nameOf(options) === "deleted")
    )
    return [...isEmbedding ? ["_embedded" as const] : [], ...isShownDeleted ? ["deleted" as const] : []]
  }
  const embedded = (name: string): ReadonlyArray<string> | undefined => {
    const model = [...models].find(({ modelName }) => name === `${modelName}Embedded`)
    return model && relations(model).map(({ name }) => name)
  }
  const described: Described = { beside, documents, embedded, models, rules, wantedNames: new Map(), withoutLinks }
  return {
    api: withKnown(api),
    referencePolicy: namingPolicy(described),
    finish: (generated) => finish(described, generated)
  }
}

/** What a document describes. The reference policy adds names and models while schemas are generated. */
interface Described {
  /** The models of resources and those that they or other schemas contain. */
  readonly models: Set<Model.Any>
  /** The names of the models of resources. */
  readonly documents: ReadonlySet<string>
  readonly rules: FieldRules
  readonly withoutLinks: ReadonlySet<Model.Any>
  /** What documents of the models may have beside their fields. */
  readonly beside: (model: Model.Any) => ReadonlyArray<BesideFields>
  /** The names of what documents may embed, by the name of the component that has it. */
  readonly embedded: (name: string) => ReadonlyArray<string> | undefined
  /** The names that components should have, by the unique names under which they are generated. */
  readonly wantedNames: Map<string, string>
}

const namingPolicy =
  ({ models, wantedNames }: Described): SchemaRepresentation.ReferencePolicy => ({ ast, identifier }) => {
    if (identifier === knownName) return undefined
    const model = modelOf(ast)
    for (const one of model === undefined ? [] : modelsIn(model)) models.add(one)
    // The generator adds this suffix to the encoded side of a class, which is the only side that callers see.
    const wanted = identifier?.replace(/Encoded$/u, "").replaceAll(/[^\w.-]/gu, "_")
    if (wanted === undefined) return undefined
    let name = wanted
    for (let i = 1; wantedNames.has(name); i++) name = `${wanted}_${i}`
    wantedNames.set(name, wanted)
    return name
  }

const finish = (
  { beside, documents, embedded, models, rules, wantedNames: identified, withoutLinks }: Described,
  { components: { schemas: { [knownName]: known, ...generated } }, paths }: Generated
): Finished => {
  const inlined = (schema: Node): Node => withoutLists(generated, identified, schema)
  const schemas = Document.mapValues(generated, (schema) => inlined(Document.nodeOf(schema)))
  const { errorMessage, jsonPatch } = Document.nodeOf(Document.nodeOf(known)["properties"])
  const ownerName = (name: string) => {
    const wanted = identified.get(name) ?? name
    return formOf(wanted, Document.nodeOf(schemas[name]), models)?.model.modelName ?? wanted
  }
  const wantedNames = new Map([
    ...identified,
    ...namesOfParts({ schemas, paths, wanted: identified }, ownerName)
  ])
  const sent = new Map<string, ModelVariant>()
  const described = Document.mapValues(schemas, (value, name) => {
    const schema = Document.rewrite(Document.nodeOf(value), plain)
    const wanted = wantedNames.get(name) ?? name
    const found = formOf(wanted, schema, models)
    if (found === undefined) return describeEmbedded(schema, embedded(wanted))
    if (found.form !== "wire") sent.set(name, found)
    const options = {
      beside: documents.has(wanted.replace(/Selection$/u, "")) ? beside(found.model) : [],
      isWithoutLinks: withoutLinks.has(found.model),
      rules
    }
    return describeComponent(schema, found, options)
  })
  const errorName = Document.componentOf(errorMessage) ?? ""
  const aliases = aliasesIn(described, wantedNames, errorName, documents)
  const kept = Object.keys(described).filter((name) => !aliases.has(name))
  const names = componentNames({ schemas: described, paths, wanted: wantedNames }, kept)
  const refOf = (name: string): Node => {
    const kept = aliases.get(name) ?? name
    return Document.refTo(names.get(kept) ?? kept)
  }
  const completed = completing(errorName, refOf)
  const complete = (schema: Node): Node => completed(inlined(schema))
  const components = Object.fromEntries(
    Object.entries(described).flatMap(([name, value]) => {
      if (aliases.has(name)) return []
      const schema = Document.nodeOf(value)
      return [[
        names.get(name) ?? name,
        name === errorName ? errorMessageOf(schema, complete) : errorSchema(complete(schema), refOf(errorName))
      ]]
    })
  )
  const keysBy = (keysOf: (found: ModelVariant) => ReadonlyArray<string>) =>
    new Map(Array.from(sent, ([name, found]) => [names.get(aliases.get(name) ?? name) ?? name, keysOf(found)]))
  const { components: problems, problemOf } = problemSchemas(components, Document.componentOf(refOf(errorName)) ?? "")
  return {
    components: { ...components, ...problems },
    complete,
    ignored: keysBy(({ form, model }) => form === "wire" ? [] : ignoredKeysOf(model, form)),
    generated: keysBy(({ model }) => generatedKeysOf(model)),
    known: {
      errorMessage: refOf(errorName),
      jsonPatch: complete(Document.nodeOf(jsonPatch)),
      problemOf
    }
  }
}

/** Completes a schema with the final names of the components that it refers to. */
const completing = (errorName: string, refOf: (name: string) => Node) => (schema: Node): Node =>
  Document.rewrite(schema, (part) => {
    const flat = plain(part)
    const name = Document.componentOf(flat)
    if (name === undefined) return isErrorWithoutFields(flat) ? refOf(errorName) : flat
    const { $ref: _, ...beside } = flat
    return { ...refOf(name), ...beside }
  })

/** The components that operations or other components refer to, sorted by name. */
export const reachable = (schemas: Node, roots: ReadonlyArray<Node>): Node => {
  const used = new Set<string>()
  const visit = (schema: Node): Node => {
    const name = Document.componentOf(schema)
    if (name !== undefined && !used.has(name)) {
      used.add(name)
      Document.rewrite(Document.nodeOf(schemas[name]), visit)
    }
    return schema
  }
  for (const root of roots) Document.mapSchemas(root, (schema) => Document.rewrite(schema, visit))
  return Object.fromEntries([...used].toSorted().map((name) => [name, schemas[name]]))
}

// -----------------------------------------------------------------------------
// schemas that every document has
// -----------------------------------------------------------------------------

/** A JSON Patch (RFC 6902). */
const JsonPatch = Schema.Array(Schema.Struct({
  op: Schema.Literals(["add", "remove", "replace", "move", "copy", "test"]),
  path: Schema.String.annotate({ description: "A JSON Pointer (RFC 6901)" }),
  from: Schema.optionalKey(Schema.String),
  value: Schema.optionalKey(Schema.Unknown)
})).annotate({ identifier: "JsonPatch" })

/** The name of the schema whose properties are the known ones; no class can have it. */
const knownName = "known."

const Known = Schema.Struct({ errorMessage: Envelope.ErrorMessage, jsonPatch: JsonPatch }).annotate({
  identifier: knownName
})

const withKnown = (api: HttpApi.Top): HttpApi.Top =>
  withDescribedSchemas(api).annotate(HttpApi.AdditionalSchemas, [
    ...Context.getOrElse(api.annotations, HttpApi.AdditionalSchemas, () => []),
    Known
  ])

// -----------------------------------------------------------------------------
// schemas
// -----------------------------------------------------------------------------

/** Removes keywords without effect, and makes constraints visible. */
const plain = (schema: Node): Node => {
  const { additionalProperties, allOf, ...rest } = withItems(
    withConstant(asEnum(withoutRepetition(withExample(withWidth(schema)))))
  )
  const open = additionalProperties === undefined || additionalProperties === false
    ? rest
    : { ...rest, additionalProperties }
  const all = Document.listOf(allOf)
  if (all.length === 0) return open
  const [first] = all.map(Document.nodeOf)
  return all.length === 1 && first !== undefined && Object.keys(first).every((key) => !(key in open))
    ? { ...open, ...first }
    : { ...open, allOf }
}

/**
 * Alternatives once each, and none beside one that is any value: of that, the generator for Java makes a class that isn't
 * there. Of bytes among others it makes one that does not compile, unless only `contentEncoding` says that they are base64. A
 * field that may be missing and `null` has `null` twice.
 */
const withoutRepetition = (schema: Node): Node => {
  const { anyOf, ...rest } = schema
  if (anyOf === undefined) return schema
  const alternatives = new Map(Document.listOf(anyOf).map((one) => [JSON.stringify(one), Document.nodeOf(one)]))
  if (alternatives.has("{}")) return rest
  const all = [...alternatives.values()]
  const isMixed = all.filter(({ type }) => type !== "null").length > 1
  return { ...rest, anyOf: isMixed ? all.map(withoutByteFormat) : all }
}

const withoutByteFormat = (schema: Node): Node => {
  const { format, ...rest } = schema
  return format === "byte" && "contentEncoding" in rest ? rest : schema
}

/** Numbers of more than 32 bits say so: typed languages can't read them otherwise, or lose digits. */
const withWidth = (schema: Node): Node => {
  const { maximum = Infinity, minimum = -Infinity, type } = schema
  if ("format" in schema || "enum" in schema) return schema
  if (type === "number") return { ...schema, format: "double" }
  const isWide = type === "integer" && (Number(minimum) < -(2 ** 31) || Number(maximum) >= 2 ** 31)
  return isWide ? { ...schema, format: "int64" } : schema
}

/** The values of an enumeration in one list, with their names as generators of clients read them. */
const asEnum = (schema: Node): Node => {
  const { anyOf, ...rest } = schema
  const members = Document.listOf(anyOf).map(Document.nodeOf)
  const [first] = members
  const isEnum = members.every(({ enum: values, title, type }) =>
    typeof title === "string" && type === first?.["type"] && Document.listOf(values).length === 1
  )
  return first === undefined || !isEnum ? schema : {
    ...rest,
    type: first["type"],
    enum: members.flatMap((one) => Document.listOf(one["enum"])),
    "x-enum-varnames": members.map(({ title }) => title)
  }
}

/** A list among several alternatives has its items beside them, too: generators of typed languages take any value then. */
const withItems = (schema: Node): Node => {
  const alternatives = [...Document.listOf(schema["anyOf"]), ...Document.listOf(schema["oneOf"])].map(Document.nodeOf)
  const lists = alternatives.filter(({ type }) => type === "array")
  if (lists.length === 0 || "items" in schema || alternatives.filter(({ type }) => type !== "null").length < 2) {
    return schema
  }
  const [{ items = {}, prefixItems } = {}] = lists
  return { ...schema, items: lists.length === 1 && prefixItems === undefined ? items : {} }
}

/** A property that is always `null` is a constant: generators don't know its type. */
const withConstant = (schema: Node): Node => {
  const { properties } = schema
  return properties === undefined ? schema : {
    ...schema,
    properties: Document.mapValues(Document.nodeOf(properties), (value) => {
      const { type, ...rest } = Document.nodeOf(value)
      return type === "null" ? { ...rest, const: null } : value
    })
  }
}

/** The example for an e-mail address. Without it, samples would be random characters that match the pattern. */
const withExample = (schema: Node): Node => {
  const { format, maxLength = sampleEmail.length, minLength = 0 } = schema
  const isShown = ["example", "examples", "default", "enum", "const"].some((key) => key in schema)
  return format === "email" && !isShown && Number(minLength) <= sampleEmail.length &&
      Number(maxLength) >= sampleEmail.length
    ? { ...schema, examples: [sampleEmail] }
    : schema
}

const sampleEmail = "jane@example.com"

/** Merges equal schemas. Those of a model differ only in the links that the documents of resources have. */
const aliasesIn = (
  schemas: Node,
  wantedNames: ReadonlyMap<string, string>,
  errorName: string,
  documents: ReadonlySet<string>
): ReadonlyMap<string, string> => {
  const hasLinks = (name: string): boolean =>
    documents.has(wantedNames.get(name) ?? name) &&
    "_links" in Document.nodeOf(Document.nodeOf(schemas[name])["properties"])
  const byText = Map.groupBy(wantedNames, ([name, wanted]) => {
    // A recursive schema refers to itself. References are compared by the names that their targets should have.
    const neutral = Document.rewrite(Document.nodeOf(schemas[name]), (part) => {
      const inner = Document.componentOf(part)
      return inner === undefined ? withoutLink(part) : { ...part, $ref: wantedNames.get(inner) ?? inner }
    })
    return `${wanted} ${JSON.stringify(neutral)}`
  })
  const errors = Object.entries(schemas).flatMap(([name, schema]): ReadonlyArray<[string, string]> =>
    name !== errorName && isErrorWithoutFields(Document.nodeOf(schema)) ? [[name, errorName]] : []
  )
  const aliases = new Map(errors)
  for (const named of byText.values()) {
    const equal = named.map(([name]) => name)
    const kept = equal.find(hasLinks) ?? equal[0]
    for (const name of equal) if (kept !== undefined && name !== kept && !aliases.has(name)) aliases.set(name, kept)
  }
  return aliases
}

const withoutLink = (schema: Node): Node => {
  const { properties } = schema
  if (!Document.isNode(properties) || !("_type" in properties) || !("_links" in properties)) return schema
  const { _links: _, ...fields } = properties
  return { ...schema, properties: fields }
}
