/** What the document says of models: the variants of each, and what their fields declare. */
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { modelTypeId } from "../../Model/internal.ts"
import * as Metadata from "../../Model/Metadata.ts"
import type * as Model from "../../Model/Model.ts"
import type { FieldRules } from "./access.ts"
import * as Document from "./node.ts"

type Node = Document.Node

/** The variants of a model in a document, by the suffix of their component names. */
const forms = { "": "wire", Create: "create", Patch: "patch", Selection: "wire", Part: "wire" } as const

type Form = (typeof forms)[keyof typeof forms]

export interface ModelVariant {
  readonly model: Model.Any
  readonly form: Form
}

/** The model with a variant of this name and these properties. */
export const formOf = (name: string, schema: Node, models: ReadonlySet<Model.Any>): ModelVariant | undefined => {
  const keys = Object.keys(Document.nodeOf(schema["properties"])).filter((key) =>
    key !== "_links" && key !== "_embedded"
  )
  for (const model of models) {
    for (const [suffix, form] of Object.entries(forms)) {
      const { fields } = model[form]
      if (
        name === `${model.modelName}${suffix}` && Object.keys(fields).length === keys.length &&
        keys.every((key) => key in fields)
      ) {
        return { model, form }
      }
    }
  }
  return undefined
}

/** The keys that the server generates if they are missing. */
export const generatedKeysOf = (model: Model.Any): ReadonlyArray<string> =>
  Object.entries(model[modelTypeId]).flatMap(([key, { generator }]) => generator === undefined ? [] : [key])

/** Adds what the model declares of its fields and the generator lacks. */
export const describeComponent = (
  schema: Node,
  { form, model }: ModelVariant,
  { beside, isWithoutLinks, rules }: {
    /** The members of documents that are beside their fields. */
    readonly beside: ReadonlyArray<BesideFields>
    readonly isWithoutLinks: boolean
    readonly rules: FieldRules
  }
): Node => {
  const { properties, required, title, ...rest } = schema
  const metadata = Metadata.make(model)
  const { _embedded: embedded, _links: links, ...fields } = Document.nodeOf(properties)
  const shown = Document.omitBy(fields, (name) => rules.isHidden(model, form, name))
  const needed = Document.listOf(required).filter((name) => !rules.isPartial(model, form, String(name)))
  const described = Document.mapValues(shown, (value, name) => {
    const { default_value: byDefault, reference } = metadata[name] ?? {}
    const isNeededOfSome = form === "create" && Document.listOf(required).includes(name) && !needed.includes(name)
    return withText({
      ...Document.nodeOf(value),
      ...textsOf(model[form].fields[name]),
      ...(byDefault === undefined || form === "patch" ? {} : { default: byDefault }),
      ...(form !== "wire" && model[modelTypeId][name]?.omitted === true ? { writeOnly: true } : {}),
      ...(form === "wire" && name !== "_type" && !(name in model.create.fields) ? { readOnly: true } : {})
    }, [
      reference === undefined ? undefined : `Refers to ${reference}.`,
      rules.textOf(model, form, name),
      ...(isNeededOfSome ? ["Required of those who may set it."] : [])
    ])
  })
  return {
    ...rest,
    // The generator's own title repeats the name.
    ...(title === undefined || title === `${model.modelName}.${form}` ? {} : { title }),
    ...(needed.length === 0 ? {} : { required: needed }),
    properties: {
      ...described,
      ...links === undefined || isWithoutLinks ? {} : { _links: links },
      ...form === "wire"
        ? Object.fromEntries(
          beside.map((
            name
          ) => [name, { ...name === "_embedded" ? Document.nodeOf(embedded) : {}, ...besideFields[name] }])
        )
        : {}
    }
  }
}

/** Keeps those of the documents to embed that `names` has: their models are registered. Any other component has no `names`. */
export const describeEmbedded = (schema: Node, names: ReadonlyArray<string> | undefined): Node =>
  names === undefined
    ? schema
    : { ...schema, properties: Document.omitBy(Document.nodeOf(schema["properties"]), (name) => !names.includes(name)) }

/** What documents may have beside their fields and links. Which documents are embedded depends on the request. */
const besideFields = {
  _embedded: { description: "What `expand` names, by its paths", readOnly: true },
  deleted: {
    type: "string",
    format: "date-time",
    description: "When the document was deleted, where the request asks for deleted ones",
    readOnly: true
  }
} satisfies { readonly [name: string]: Node }

export type BesideFields = keyof typeof besideFields

const withText = (schema: Node, texts: ReadonlyArray<string | undefined>): Node => {
  const all = [schema["description"], ...texts].filter((text) => typeof text === "string")
  return all.length === 0 ? schema : { ...schema, description: all.join(" ") }
}

/** The generator only sees the wire form of a field that has another decoded form. */
const textsOf = (field: unknown): Node => {
  if (!Schema.isSchema(field) || field.ast.encoding === undefined) return {}
  const { description, title } = SchemaAST.resolve(field.ast) ?? {}
  return {
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof description === "string" ? { description } : {})
  }
}
