/** What a service says of itself, of its document and the metadata of its models. */
import type {
  ActionDescription,
  Allowed,
  BackReference,
  FieldDescription,
  ResourceDescription,
  ServiceDescription
} from "../Description.ts"
import type { Operation, ReadDocument } from "./document.ts"
import { describeArguments, describeFields, type FieldContext } from "./fields.ts"
import { type Json, jsonList, jsonMember, jsonNumber, jsonObject, jsonText, jsonTexts } from "./json.ts"
import { labelOf } from "./labels.ts"

/** The registrations that are resources, by their names, with the paths of their metadata. */
export const resourcesIn = ({ registrations }: ReadDocument): ReadonlyMap<string, string> =>
  new Map(
    Array.from(registrations, ([name, operations]): readonly [string, string] | undefined => {
      const [meta, schema] = [operations.get("meta"), operations.get("schema")]
      const path = meta?.path.replace(/\/meta$/u, "")
      return meta?.method === "GET" && schema?.path === `${path}/schema` ? [name, meta.path] : undefined
    }).filter((found) => found !== undefined)
  )

/** Describes a service: `metadata` has that of each resource, by its name. */
export const describeService = (document: ReadDocument, metadata: ReadonlyMap<string, Json>): ServiceDescription => {
  const models = new Map<string, string>()
  const found = Array.from(metadata.keys(), (name) => {
    // Metadata is that of resources in the document.
    const operations = document.registrations.get(name) ?? new Map<string, Operation>()
    const model = modelOf(document, operations) ?? labelOf(name)
    if (!models.has(model)) models.set(model, name)
    return { name, operations, model, meta: metadata.get(name) ?? {} }
  })
  const resources = found.map((one) => describeResource(document, one, (model) => models.get(model)))
  return {
    title: document.title,
    version: document.version,
    resources: resources.map((resource) => ({ ...resource, referencedBy: referencesTo(resource.name, resources) })),
    operations: operationsOf(document, new Set(metadata.keys())),
    ...document.monitoring === undefined ? {} : { monitoring: document.monitoring }
  }
}

interface Found {
  readonly name: string
  readonly model: string
  readonly operations: ReadonlyMap<string, Operation>
  readonly meta: Json
}

/** The model of a resource is in the `_type` of its documents. */
const modelOf = ({ resolve }: ReadDocument, operations: ReadonlyMap<string, Operation>): string | undefined => {
  const document = answeredOf(resolve, operations)
  return jsonTexts(resolve(jsonObject(document["properties"])["_type"])["enum"])[0]
}

const answerOf = (operation: Operation | undefined, status = "200"): Json | undefined =>
  operation?.answers.get(status)?.get("application/json")

/** The schema of the documents. */
const answeredOf = (resolve: ReadDocument["resolve"], operations: ReadonlyMap<string, Operation>): Json => {
  const own = answerOf(operations.get("get"))
  const items = jsonObject(resolve(answerOf(operations.get("list")))["properties"])["_items"]
  return withoutSelection(own ?? resolve(jsonObject(resolve(items)["items"])), resolve)
}

/** The first of a document and what `fields` leaves of it. */
const withoutSelection = (schema: Json, resolve: ReadDocument["resolve"]): Json => {
  const [first] = jsonList(schema["anyOf"])
  return resolve(first ?? schema)
}

const describeResource = (
  { resolve }: ReadDocument,
  { meta, model, name, operations }: Found,
  resourceOf: (model: string) => string | undefined
): ResourceDescription => {
  const list = operations.get("list")
  const filters = new Set(list?.parameters.map((parameter) => parameter.name))
  const orders = ordersOf(list)
  const context: FieldContext = {
    resolve,
    resourceOf,
    isFilter: (path) => filters.has(path),
    isOrder: (path) => orders.has(path)
  }
  const named = jsonObject(meta["_model"])
  const create = operations.get("create")
  const replace = operations.get("replace")
  const replaces = replace ?? (create?.answers.has("200") === true ? create : undefined)
  const patch = operations.get("patch") ?? replaces
  const bodyOf = (operation: Operation | undefined) =>
    operation?.body === undefined ? undefined : withoutSelection(resolve(operation.body), resolve)
  const fields = describeFields(
    meta,
    { answered: answeredOf(resolve, operations), created: bodyOf(create), changed: bodyOf(patch) },
    context
  ).map(withRights(resolve, operations))
  const path = (operations.get("meta")?.path ?? "").replace(/\/meta$/u, "")
  const isSoftDeleted = list?.parameters.some((parameter) => parameter.name === "deleted") === true &&
    !fields.some((field) => field.name === "deleted")
  return {
    name,
    model,
    path,
    label: jsonText(named["label"]) ?? labelOf(model),
    labelPlural: jsonText(named["plural"]) ?? labelOf(name),
    fields,
    may: mayOf(operations, path, replaces !== undefined),
    ...replaces === undefined ? {} : { replacedBy: replaces === replace ? "PUT" : "POST" },
    actions: Array.from(operations.values()).filter((operation) => isAction(operation, path, fields)).map((operation) =>
      labelled(
        actionOf(operation, operation.path.startsWith(`${path}/{`) ? "item" : "collection", operation.name, context),
        jsonObject(jsonMember(jsonObject(meta["_actions"]), operation.name))
      )
    ),
    referencedBy: [],
    representation: representationOf(fields),
    textSearch: isTextSearched(meta),
    isSoftDeleted,
    isVersioned: fields.some(isVersion),
    maxPageSize: jsonNumber(list?.parameters.find((one) => one.name === "page_size")?.schema["maximum"])
  }
}

/** Whether some field, or one of a nested model, is in the index of texts. */
const isTextSearched = (meta: Json): boolean =>
  Object.values(meta).some((value) => {
    const { props, sub_type: element, text_search: own } = jsonObject(value)
    return own === true || isTextSearched(jsonObject(props ?? jsonObject(element)["props"]))
  })

/** The version that the service counts; a version of another type, or one that has to be sent, is the model's own. */
const isVersion = ({ isRequired, isSetOnCreate, name, type }: FieldDescription): boolean =>
  name === "version" && type === "integer" && !(isRequired && isSetOnCreate)

/** The version is for the service to count; files are written where there are addresses for it, and sent with a new document. */
const withRights = (
  resolve: ReadDocument["resolve"],
  operations: ReadonlyMap<string, Operation>
) =>
(field: FieldDescription): FieldDescription => {
  if (isVersion(field)) return { ...field, isReadOnly: true, isSetOnCreate: false, isSetOnUpdate: false }
  if (field.file === undefined && field.items?.file === undefined) return field
  const isWritten = Array.from(operations.values()).some(({ method, path }) =>
    method !== "GET" && (path.endsWith(`/{id}/${field.name}`))
  )
  const part = resolve(jsonMember(jsonObject(resolve(operations.get("create")?.form)["properties"]), field.name))
  const isSent = isWritten || part["format"] === "binary" || resolve(part["items"])["format"] === "binary"
  return { ...field, isReadOnly: !isSent, isSetOnCreate: isSent, isSetOnUpdate: isWritten }
}

/** The fields to sort by are those of the pattern of `sort_by`. */
const ordersOf = (list: Operation | undefined): ReadonlySet<string> => {
  const pattern = jsonText(list?.parameters.find((one) => one.name === "sort_by")?.schema["pattern"]) ?? ""
  const names = /\(\?:([^()]*)\)/u.exec(pattern)?.[1] ?? ""
  return new Set(names.split("|").map((name) => name.replaceAll("\\", "")))
}

const mayOf = (
  operations: ReadonlyMap<string, Operation>,
  path: string,
  replace: boolean
): Allowed => {
  const isAt = (name: string, at: string) => operations.get(name)?.path === at
  return {
    list: operations.has("list"),
    get: operations.has("get"),
    create: operations.has("create"),
    update: operations.has("patch"),
    replace,
    delete: operations.has("delete"),
    restore: isAt("restore", `${path}/{id}/restore`),
    purge: operations.get("delete")?.parameters.some(({ name }) => name === "purge") === true,
    history: isAt("revisions", `${path}/{id}/revisions`),
    restoreRevision: isAt("restore_revision", `${path}/{id}/revisions/{revision}/restore`),
    deleteMany: operations.has("delete_many"),
    updateMany: operations.has("patch_many"),
    csv: operations.get("list")?.answers.get("200")?.has("text/csv") === true,
    aggregate: isAt("aggregate", `${path}/aggregate`),
    watch: isAt("changes", `${path}/changes`)
  }
}

const standard = new Set([
  "list",
  "get",
  "create",
  "replace",
  "patch",
  "delete",
  "replace_many",
  "patch_many",
  "delete_many",
  "aggregate",
  "query",
  "schema",
  "meta",
  "changes",
  "revisions",
  "revision",
  "revision_changes",
  "restore_revision",
  "restore",
  "purge"
])

const isAction = ({ name, path }: Operation, at: string, fields: ReadonlyArray<FieldDescription>): boolean => {
  const [first, second] = path.startsWith(`${at}/`) ? path.slice(at.length + 1).split("/") : []
  const isOfFile = first === "{id}" &&
    fields.some((field) => field.name === second && (field.file !== undefined || field.items?.file !== undefined))
  return !standard.has(name) && !isOfFile
}

const destructive = /(?:^|_)(?:delete|remove|discard|purge|revoke|cancel|destroy|clear|erase|drop)(?:_|$)/iu

const actionOf = (
  { body, description, method, name, parameters, path, summary }: Operation,
  on: ActionDescription["on"],
  fullName: string,
  context: FieldContext
): ActionDescription => {
  const sent = body === undefined ? {} : context.resolve(body)
  const others = parameters.filter((one) =>
    (one.in === "query" || one.in === "path") && !(on === "item" && one.in === "path" && one.name === "id")
  )
  const properties = {
    ...Object.fromEntries(others.map((one) => [one.name, { description: one.description, ...one.schema }])),
    ...jsonObject(sent["properties"])
  }
  const required = [...others.filter((one) => one.isRequired).map((one) => one.name), ...jsonTexts(sent["required"])]
  const help = description?.split("\n\n").filter((text) => !text.startsWith("Who may do this")).join("\n\n")
  return {
    name: fullName,
    label: summary ?? labelOf(name),
    ...help === undefined || help === "" ? {} : { help },
    on,
    method,
    path,
    arguments: describeArguments({ properties, required }, context),
    parameters: others.map((one) => one.name),
    isDestructive: method === "DELETE" || destructive.test(name)
  }
}

/** An action as the service calls it in the language of the reader. */
const labelled = (action: ActionDescription, { arguments: labels, label, values }: Json): ActionDescription => ({
  ...action,
  label: jsonText(label) ?? action.label,
  arguments: action.arguments.map((one) => {
    const texts = jsonObject(jsonMember(jsonObject(values), one.name))
    return {
      ...withChoices(one, texts),
      ...one.items === undefined ? {} : { items: withChoices(one.items, texts) },
      label: jsonText(jsonMember(jsonObject(labels), one.name)) ?? one.label
    }
  })
})

const withChoices = (field: FieldDescription, texts: Json): FieldDescription =>
  field.choices === undefined ? field : {
    ...field,
    choices: field.choices.map(({ id, label }) => ({ id, label: jsonText(jsonMember(texts, String(id))) ?? label }))
  }

const namingFields = ["name", "title", "label", "full_name", "subject", "email", "login", "code", "number", "key"]

/** The field that names a document: one that usually does, else the first text. */
const representationOf = (fields: ReadonlyArray<FieldDescription>): string => {
  const texts = fields.filter(({ isWriteOnly, type }) =>
    !isWriteOnly && (type === "text" || type === "email" || type === "url")
  )
  const usual = namingFields.find((name) => texts.some((field) => field.name === name))
  return usual ?? texts.find(({ name }) => name !== "id" && name !== "owner")?.name ?? "id"
}

/** The fields, with those of nested models and of the elements of lists. */
const allFields = (fields: ReadonlyArray<FieldDescription>): ReadonlyArray<FieldDescription> =>
  fields.flatMap((field) => [field, ...allFields([...field.fields ?? [], ...field.items ? [field.items] : []])])

const referencesTo = (
  target: string,
  resources: ReadonlyArray<ResourceDescription>
): ReadonlyArray<BackReference> =>
  resources.filter(({ may }) => may.list).flatMap(({ fields, name: resource }) =>
    allFields(fields).filter(({ isFilterable, reference }) => reference === target && isFilterable).map((
      { label, path }
    ) => ({ name: label, resource, field: path }))
  )

/** The operations of services. Those that issue tokens are the authentication provider's. */
const operationsOf = (
  { labels, registrations, resolve, tokenPath }: ReadDocument,
  resources: ReadonlySet<string>
): ReadonlyArray<ActionDescription> => {
  const context = { resolve, resourceOf: () => undefined, isFilter: () => false, isOrder: () => false }
  return Array.from(registrations).filter(([name]) => !resources.has(name)).flatMap(([registration, operations]) =>
    Array.from(operations.values()).filter(({ isJson, name, path }) =>
      // A file, or what is sent piece by piece, is for a page of its own.
      isJson && name !== "changes" && path !== tokenPath && path !== `${tokenPath}/revoke`
    ).map((operation) => {
      const name = `${registration}.${operation.name}`
      const action = labelled(actionOf(operation, "service", name, context), jsonObject(jsonMember(labels, name)))
      const service = jsonText(jsonObject(jsonMember(labels, registration))["label"])
      return service === undefined ? action : { ...action, service }
    })
  )
}
