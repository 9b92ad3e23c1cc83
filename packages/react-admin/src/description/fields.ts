/** The fields of a resource: their metadata, beside the schemas of what is answered and sent. */
import type { FieldDescription, FieldType, FileDescription } from "../Description.ts"
import {
  isJson,
  type Json,
  jsonList,
  jsonMember,
  jsonNumber,
  jsonObject,
  jsonText,
  jsonTexts,
  withoutMissing
} from "./json.ts"
import { labelOf } from "./labels.ts"

/** What fields are described by. */
export interface FieldContext {
  readonly resolve: (schema: unknown) => Json
  /** The name of the resource of a model. */
  readonly resourceOf: (model: string) => string | undefined
  readonly isFilter: (path: string) => boolean
  readonly isOrder: (path: string) => boolean
}

/** The schemas of one model: what is answered, and what is sent to create and to change a document. */
export interface Forms {
  readonly answered: Json
  readonly created: Json | undefined
  readonly changed: Json | undefined
}

/** The fields of a model, in the order of its metadata; those that are sent alone come where they are sent. */
export const describeFields = (meta: Json, forms: Forms, context: FieldContext): ReadonlyArray<FieldDescription> =>
  namesOf(meta, forms).map((name) => describeField(name, { path: name, meta, forms, context, depth: 0 }))

/** The parameters of an action: of its body, and of its URL. */
export const describeArguments = (schema: Json, context: FieldContext): ReadonlyArray<FieldDescription> =>
  describeFields({}, { answered: {}, created: schema, changed: schema }, {
    ...context,
    isFilter: () => false,
    isOrder: () => false
  })

const ofService = new Set(["_type", "_links", "_embedded", "_model", "_actions", "_serves", "deleted"])

/** Fields in the order in which models have them: what is answered, and those that are only sent where they are sent. */
const namesOf = (meta: Json, { answered, changed, created }: Forms): ReadonlyArray<string> => {
  const names = Object.keys(meta).length > 0 ? Object.keys(meta) : Object.keys(jsonObject(answered["properties"]))
  const ordered = [...names]
  for (const form of [created, changed]) {
    const sent = Object.keys(jsonObject(form?.["properties"]))
    for (const [i, name] of sent.entries()) {
      if (ordered.includes(name)) continue
      const before = sent.slice(0, i).findLast((one) => ordered.includes(one))
      ordered.splice(before === undefined ? 0 : ordered.indexOf(before) + 1, 0, name)
    }
  }
  return ordered.filter((name) => !ofService.has(name))
}

interface At {
  readonly path: string
  readonly meta: Json
  readonly forms: Forms
  readonly context: FieldContext
  readonly depth: number
}

const maxDepth = 8

const describeField = (name: string, { context, depth, forms, meta, path }: At): FieldDescription => {
  const own = jsonObject(jsonMember(meta, name))
  const propertyOf = (form: Json | undefined) => {
    const property = form === undefined ? undefined : jsonMember(jsonObject(form["properties"]), name)
    return property === undefined ? undefined : context.resolve(property)
  }
  const answered = propertyOf(forms.answered)
  const created = propertyOf(forms.created)
  const changed = propertyOf(forms.changed)
  // Formats of what is sent, such as that of e-mail addresses, are not those of what is answered.
  const schema = { ...created ?? changed, ...answered }
  const isRequired = own["required"] === true || isRequiredIn(forms.created, name)
  const isSent = (property: Json | undefined, form: Json | undefined) =>
    property !== undefined && property["readOnly"] !== true && (name !== "id" || isRequiredIn(form, name))
  const isSetOnCreate = isSent(created, forms.created)
  const isSetOnUpdate = isSent(changed, forms.changed) && name !== "id"
  const isWriteOnly = (created ?? changed)?.["writeOnly"] === true
  const at: Described = {
    name,
    path,
    own,
    schema,
    forms: {
      answered: schema,
      created: isSetOnCreate ? created : undefined,
      changed: isSetOnUpdate ? changed : undefined
    },
    context,
    depth
  }
  const file = fileOf(own)
  const type = typeOf(at, { file, isWriteOnly })
  const isList = type === "list"
  const values = isList ? [] : choicesOf(own, schema)
  const reference = isList ? undefined : jsonText(own["reference"])
  // Files are written at addresses of their own.
  const isFile = file !== undefined
  return withoutMissing<FieldDescription>({
    name,
    path,
    type,
    label: labelIn(own, name),
    help: jsonText(own["help"]) ?? helpOf(schema),
    isRequired,
    isNullable: isRequired && takesNull(jsonObject(forms.created?.["properties"])[name]),
    isReadOnly: !isFile && !isSetOnCreate && !isSetOnUpdate,
    isWriteOnly,
    isSetOnCreate: isFile || isSetOnCreate,
    isSetOnUpdate: isFile || isSetOnUpdate,
    isFilterable: context.isFilter(path),
    isSortable: context.isOrder(path),
    choices: values.length === 0 ? undefined : values.map((id) => ({ id, label: choiceLabel(id, own) })),
    reference: reference === undefined ? undefined : context.resourceOf(reference),
    items: isList ? itemsOf(at) : undefined,
    fields: type === "model" && !isFile ? partsOf(at) : undefined,
    ...boundsOf(schema),
    default: own["default_value"] ?? created?.["default"],
    file
  })
}

interface Described extends Omit<At, "meta"> {
  readonly name: string
  readonly own: Json
  readonly schema: Json
}

/** Whether `null` is a value of a type. */
const takesNull = (schema: unknown): boolean => {
  const { anyOf, type } = jsonObject(schema)
  return type === "null" || jsonList(type).includes("null") || jsonList(anyOf).some(takesNull)
}

const isRequiredIn = (form: Json | undefined, name: string): boolean => jsonTexts(form?.["required"]).includes(name)

const labelIn = ({ label }: Json, name: string): string =>
  // Without a translation it is the model's name and the field's.
  typeof label !== "string" || label.endsWith(`.${name}`) ? labelOf(name) : label

/** Sentences that the service makes of a type itself. */
const generated = /^(?:An ISO 8601|A date|A file of|A file$|Refers to|Set by|Visible to)/u

const helpOf = ({ description }: Json): string | undefined =>
  typeof description !== "string" || generated.test(description) ? undefined : description

const fileOf = ({ file }: Json): FileDescription | undefined => {
  if (!isJson(file)) return undefined
  return withoutMissing<FileDescription>({
    types: jsonTexts(file["types"]),
    maxSize: jsonNumber(file["max_size"]),
    sizes: Object.keys(jsonObject(file["image"]))
  })
}

const choicesOf = (own: Json, schema: Json): ReadonlyArray<string | number | boolean> =>
  jsonList(own["values"] ?? schema["enum"]).filter((value) =>
    typeof value === "string" || typeof value === "number" || typeof value === "boolean"
  )

/** As the service calls a member; without a translation, abbreviations stay as they are. */
const choiceLabel = (value: string | number | boolean, { value_labels: labels }: Json): string =>
  jsonText(jsonMember(jsonObject(labels), String(value))) ??
    (typeof value === "string" && /[a-z]/u.test(value) ? labelOf(value) : String(value))

const boundsOf = (schema: Json) => ({
  minimum: boundOf(schema["minimum"]),
  maximum: boundOf(schema["maximum"]),
  minLength: jsonNumber(schema["minLength"]),
  maxLength: jsonNumber(schema["maxLength"]),
  minItems: jsonNumber(schema["minItems"]),
  maxItems: jsonNumber(schema["maxItems"]),
  pattern: isOfFormat(schema) ? undefined : jsonText(schema["pattern"])
})

/** Whether the pattern is that of a format, which inputs know. */
const isOfFormat = ({ description, format }: Json): boolean =>
  format === "email" || format === "date" || format === "date-time" ||
  jsonText(description)?.startsWith("An ISO 8601") === true

/** A bound that every whole number of a double has says nothing. */
const boundOf = (value: unknown): number | undefined =>
  typeof value === "number" && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : undefined

const typesOfMetadata: { readonly [type: string]: FieldType } = {
  int: "integer",
  float: "number",
  bool: "boolean",
  list: "list",
  datetime: "dateTime",
  date: "date"
}

const formats: { readonly [format: string]: FieldType } = {
  email: "email",
  uri: "url",
  url: "url",
  "date-time": "dateTime",
  date: "date",
  time: "time",
  decimal128: "decimal",
  int64: "decimal",
  password: "password"
}

const longNames = /(?:^|_)(?:description|text|body|comment|comments|note|notes|message|summary|content|details|bio)$/iu

const typeOf = (
  { name, own, schema }: Described,
  { file, isWriteOnly }: { readonly file: FileDescription | undefined; readonly isWriteOnly: boolean }
): FieldType => {
  if (own["type"] === "list" || schema["type"] === "array") return "list"
  if (file !== undefined) {
    return file.sizes.length > 0 || (file.types.length > 0 && file.types.every((type) => type.startsWith("image/")))
      ? "image"
      : "file"
  }
  if (typeof own["reference"] === "string") return "reference"
  if (choicesOf(own, schema).length > 0) return "enum"
  const byMetadata = typesOfMetadata[String(own["type"])]
  if (byMetadata !== undefined) return byMetadata
  if (isJson(own["props"])) return "model"
  switch (schema["type"]) {
    case "string":
      return textTypeOf(name, schema, isWriteOnly)
    case "integer":
      return "integer"
    case "number":
      return "number"
    case "boolean":
      return "boolean"
    case "object":
      return isJson(schema["properties"]) ? "model" : "json"
    default:
      return own["type"] === "str" ? "text" : "json"
  }
}

const textTypeOf = (name: string, schema: Json, isWriteOnly: boolean): FieldType => {
  const byFormat = formats[String(schema["format"])]
  if (byFormat !== undefined) return byFormat
  if (isWriteOnly || /password|secret$/iu.test(name)) return "password"
  if (schema["contentMediaType"] === "text/markdown") return "markdown"
  if (jsonText(schema["pattern"])?.startsWith("^https?") === true) return "url"
  const { maxLength } = schema
  return schema["pattern"] === undefined &&
      (typeof maxLength === "number" ? maxLength > 255 && !isIdentifier(schema) : longNames.test(name))
    ? "longText"
    : "text"
}

/** The bounds of identifiers. */
const isIdentifier = ({ maxLength, minLength }: Json): boolean => minLength === 1 && maxLength === 1_000

/** The schemas of the parts, as far as they are sent. */
const insideOf = ({ changed, created, answered }: Forms, { resolve }: FieldContext, member: string): Forms => ({
  answered: resolve(answered[member]),
  created: created && resolve(created[member]),
  changed: changed && resolve(changed[member])
})

const itemsOf = (at: Described): FieldDescription => {
  const { context, depth, forms, own, path } = at
  const { reference, sub_type: subType, file } = own
  const { values, ...element }: Json = isJson(subType) ? subType : { type: subType }
  const inner = insideOf(forms, context, "items")
  const described = describeField("item", {
    path,
    meta: { item: withoutMissing({ ...element, values, reference, file, required: true }) },
    forms: {
      answered: { properties: { item: inner.answered } },
      created: asItem(inner.created),
      changed: asItem(inner.changed)
    },
    context,
    depth: depth + 1
  })
  return { ...described, label: labelIn(own, at.name) }
}

/** A model whose one field is the element of a list. */
const asItem = (schema: Json | undefined): Json | undefined => schema && { properties: { item: schema } }

const partsOf = ({ context, depth, forms, own, path }: Described): ReadonlyArray<FieldDescription> => {
  if (depth >= maxDepth) return []
  const meta = jsonObject(own["props"])
  return namesOf(meta, forms).map((name) =>
    describeField(name, { path: `${path}.${name}`, meta, forms, context, depth: depth + 1 })
  )
}
