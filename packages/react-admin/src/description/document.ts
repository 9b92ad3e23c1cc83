/** The OpenAPI document of a service, by its registrations. */
import { isJson, type Json, jsonList, jsonMember, jsonObject, jsonText, jsonTexts } from "./json.ts"

/** An operation of the document. */
export interface Operation {
  /** Its name in its registration: `list`. */
  readonly name: string
  /** In capitals. */
  readonly method: string
  readonly path: string
  readonly parameters: ReadonlyArray<Parameter>
  /** The schema of its body, if it is JSON. */
  readonly body: Json | undefined
  /** The schema of its body as a form that may have files. */
  readonly form: Json | undefined
  /** Whether its body, and what it answers if it succeeds, are JSON or nothing. */
  readonly isJson: boolean
  /** The types of answers by their status. */
  readonly answers: ReadonlyMap<string, ReadonlyMap<string, Json>>
  readonly summary: string | undefined
  readonly description: string | undefined
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly isRequired: boolean
  readonly description: string | undefined
  readonly schema: Json
}

/** The document with its operations by the names of registrations. */
export interface ReadDocument {
  readonly title: string
  readonly version: string
  readonly registrations: ReadonlyMap<string, ReadonlyMap<string, Operation>>
  /** Whether there is no access control: the document has no scheme of credentials. */
  readonly isOpen: boolean
  /** The paths of health and metrics that are the caller's; `undefined` if the document does not say it. */
  readonly monitoring: ReadonlyArray<string> | undefined
  /** What people call operations of services and their arguments, by their identifiers, in the language of the reader. */
  readonly labels: Json
  /** The path at which tokens are issued. */
  readonly tokenPath: string | undefined
  /** Whether a write takes an `Idempotency-Key`. */
  readonly takesKey: (method: string, path: string) => boolean
  /** Follows a reference to a component, and the alternatives of a value that may be `null`. */
  readonly resolve: (schema: unknown) => Json
}

const methods = ["get", "post", "put", "patch", "delete"]

/** Reads a document. */
export const readDocument = (document: Json): ReadDocument => {
  const deref = (value: unknown): Json => {
    let found = jsonObject(value)
    for (let depth = 0; depth < 16 && typeof found["$ref"] === "string"; depth++) {
      const { $ref, ...beside } = found
      const [, ...names] = (jsonText($ref) ?? "").split("/")
      let target: unknown = document
      for (const name of names) {
        target = jsonMember(jsonObject(target), decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~"))
      }
      found = { ...jsonObject(target), ...beside }
    }
    return found
  }
  const resolve = (schema: unknown): Json => {
    const found = deref(schema)
    const { anyOf, type, ...beside } = found
    if (Array.isArray(type)) {
      const [only, ...others] = type.filter((one) => one !== "null")
      return others.length === 0 ? { ...found, type: only } : found
    }
    const alternatives = jsonList(anyOf).filter((one) => jsonObject(one)["type"] !== "null")
    return alternatives.length === 1 ? { ...resolve(alternatives[0]), ...beside } : found
  }
  const registrations = new Map<string, Map<string, Operation>>()
  for (const [path, item] of Object.entries(jsonObject(document["paths"]))) {
    for (const method of methods) {
      const operation = jsonMember(jsonObject(item), method)
      if (!isJson(operation)) continue
      const id = jsonText(operation["operationId"]) ?? ""
      const end = id.lastIndexOf(".")
      const own = registrations.get(id.slice(0, Math.max(end, 0))) ?? new Map<string, Operation>()
      registrations.set(id.slice(0, Math.max(end, 0)), own)
      own.set(id.slice(end + 1), readOperation(operation, { name: id.slice(end + 1), method, path }, deref))
    }
  }
  const { info, components } = document
  const schemes = jsonObject(jsonObject(components)["securitySchemes"])
  const signIn = jsonObject(schemes["signIn"])
  const tokenUrl = jsonText(jsonObject(jsonObject(signIn["flows"])["password"])["tokenUrl"])
  // The address may have the prefix of another server before the path.
  const tokenPath = Object.keys(jsonObject(document["paths"])).filter((path) => tokenUrl?.endsWith(path))
    .toSorted((one, other) => other.length - one.length)[0]
  return {
    title: jsonText(jsonObject(info)["title"]) ?? "",
    version: jsonText(jsonObject(info)["version"]) ?? "",
    registrations,
    isOpen: Object.keys(schemes).length === 0,
    monitoring: document["x-monitoring"] === undefined ? undefined : jsonTexts(document["x-monitoring"]),
    labels: jsonObject(document["x-labels"]),
    tokenPath,
    takesKey: keyedIn(Array.from(registrations.values()).flatMap((operations) => [...operations.values()])),
    resolve
  }
}

const keyedIn = (operations: ReadonlyArray<Operation>): ReadDocument["takesKey"] => {
  const keyed = operations.filter(({ parameters }) =>
    parameters.some((one) => one.in === "header" && one.name.toLowerCase() === "idempotency-key")
  )
  const paths = new Set(operations.map(({ method, path }) => `${method} ${path}`))
  return (method, path) => {
    const parts = path.split("/")
    return keyed.some((operation) =>
      operation.method === method &&
      // A path of its own is not that of a document.
      (operation.path === path || !paths.has(`${method} ${path}`) && isAt(operation.path.split("/"), parts))
    )
  }
}

/** Whether a path is one of these, of which a part in braces is any. */
const isAt = (template: ReadonlyArray<string>, parts: ReadonlyArray<string>): boolean =>
  template.length === parts.length && template.every((part, i) => part === parts[i] || part.startsWith("{"))

const hasJson = (types: ReadonlyArray<string>): boolean => types.length === 0 || types.includes("application/json")

const readOperation = (
  operation: Json,
  { method, name, path }: { readonly name: string; readonly method: string; readonly path: string },
  deref: (value: unknown) => Json
): Operation => {
  const content = jsonObject(deref(operation["requestBody"])["content"])
  const json = jsonMember(content, "application/json")
  const form = jsonMember(content, "multipart/form-data")
  const answers = new Map(
    Object.entries(jsonObject(operation["responses"])).map(([status, response]) => [
      status,
      new Map(
        Object.entries(jsonObject(deref(response)["content"])).map(([type, one]) => [
          type,
          jsonObject(jsonObject(one)["schema"])
        ])
      )
    ])
  )
  return {
    name,
    method: method.toUpperCase(),
    path,
    parameters: jsonList(operation["parameters"]).map(deref).map((parameter) => ({
      name: jsonText(parameter["name"]) ?? "",
      in: jsonText(parameter["in"]) ?? "",
      isRequired: parameter["required"] === true,
      description: jsonText(parameter["description"]),
      schema: jsonObject(parameter["schema"])
    })),
    body: isJson(json) ? jsonObject(json["schema"]) : undefined,
    form: isJson(form) ? jsonObject(form["schema"]) : undefined,
    isJson: hasJson(Object.keys(content)) &&
      Array.from(answers).every(([status, types]) => !status.startsWith("2") || hasJson([...types.keys()])),
    answers,
    summary: jsonText(operation["summary"]),
    description: jsonText(operation["description"])
  }
}
