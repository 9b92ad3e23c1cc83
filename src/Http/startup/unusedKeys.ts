/** Finds keys in translation catalogues that no message of the service uses, such as misspelt ones. */
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { de } from "../../internal/catalogues/de.ts"
import { en } from "../../internal/catalogues/en.ts"
import { childrenOf, type ModelLike, modelOf, nodesIn, ruleOf, validationTypeId } from "../../Model/internal.ts"
import { partFields, payloadOf, successOf } from "../description/operationEndpoint.ts"
import { classesIn, errorList } from "../description/ownErrors.ts"
import {
  aggregationParameters,
  documentParameters,
  manyParameters,
  overridableParameters,
  pageParameters,
  schemaParameters
} from "../description/queryParameters.ts"
import type { Registration } from "../registration/registration.ts"
import { effectsCheckOf } from "../response/fieldResolver.ts"
import { serviceErrorTypeId } from "../ServiceError.ts"
import type { Translations } from "../Translations.ts"

/** Finds the keys of catalogues that a service does not use, with a sentence for each. */
export const unusedKeys = (
  { languages }: Translations,
  registrations: ReadonlyArray<Registration>
): ReadonlyArray<string> => {
  const known = knownIn(registrations)
  const warnings = languages.flatMap(({ keys }) =>
    [...keys ?? []].flatMap(([key, file]) => isUsed(key, known) ? [] : [`${file}: ${key} is the key of no text`])
  )
  return [...new Set(warnings)]
}

interface Known {
  readonly models: ReadonlySet<ModelLike>
  readonly labels: ReadonlySet<string>
  /** Those of resources, and the operations of services. */
  readonly actions: ReadonlySet<string>
  readonly services: ReadonlySet<string>
  /** The keys that the labels of arguments begin with. */
  readonly calls: ReadonlyArray<string>
  /** Fields and parameters by name. */
  readonly names: ReadonlySet<string>
  readonly errors: ReadonlySet<string>
  readonly validators: ReadonlySet<string>
  /** Whether a model has a rule of its own, whose validator names are unknown. */
  readonly isOpen: boolean
}

const isUsed = (key: string, known: Known): boolean => {
  // A program names them.
  if (key.startsWith("mails.")) return true
  if (key.startsWith("errors.")) return known.errors.has(key)
  const [first = "", ...rest] = key.split(".")
  const place = rest.join(".")
  if (first === "models" || first === "collections") return [...known.models].some((one) => one.modelName === place)
  if (first === "actions") return known.actions.has(place)
  if (first === "services") return known.services.has(place) || isLabel(key, known)
  if (first === "help") return known.labels.has(place)
  if (first === "values") return known.labels.has(rest.slice(0, 2).join("."))
  if (!key.startsWith("validators.")) return isLabel(key, known)
  const [type = "", at] = place.split("@", 2)
  const isPlace = at === undefined || isLabel(at, known) || known.names.has(at.split(".").at(-1)!)
  return isPlace && (known.isOpen || known.validators.has(type))
}

const isLabel = (key: string, { calls, labels, names }: Known): boolean =>
  labels.has(key)
  || calls.some((call) => key.startsWith(call) && key.slice(call.length).split(".").every((name) => names.has(name)))

const knownIn = (registrations: ReadonlyArray<Registration>): Known => {
  const calls = registrations.flatMap(({ calls }) => calls)
  const resources = registrations.filter((registration) => registration._tag === "Resource")
  const given = calls.flatMap(({ options: { params, query } }) =>
    Object.entries({ ...partFields(params), ...partFields(query) })
  )
  const schemas = [
    ...resources.map(({ model }) => model),
    ...calls.flatMap(({ options }) => [
      Schema.isSchema(options.payload) ? options.payload : undefined,
      payloadOf(options),
      successOf(options)
    ]),
    ...given.map(([, schema]) => schema)
  ]
  const nodes = [...new Set(schemas.flatMap((schema) => schema === undefined ? [] : nodesIn(schema.ast, partsOf)))]
  const names = nodes.flatMap((node) =>
    node._tag === "Objects" ? node.propertySignatures.map(({ name }) => String(name)) : []
  )
  const errors = classesIn([
    ...calls.flatMap(({ options }) => errorList(options.error ?? [])),
    ...resources.flatMap(({ description }) => Object.values(description.errors).flat())
  ])
  const models = new Set(nodes.flatMap((node) => modelOf(node) ?? []))
  const validators = nodes.flatMap(({ checks = [] }) =>
    checks.flatMap((check) => ruleOf(check)?.type ?? effectsCheckOf(check)?.name ?? [])
  )
  return {
    models,
    labels: new Set(
      Array.from(models).flatMap((model) => Object.keys(model.store.fields).map((key) => `${model.modelName}.${key}`))
    ),
    actions: new Set(registrations.flatMap(({ calls, name }) => calls.map((call) => `${name}.${call.name}`))),
    services: new Set(registrations.filter(({ _tag }) => _tag === "Service").map(({ name }) => name)),
    calls: registrations.flatMap(({ calls, name }) => calls.map((call) => `${name}.${call.name}.`)),
    names: new Set([...parameters, ...names, ...given.map(([name]) => name)]),
    errors: new Set([...Object.keys(en), ...errors.map((error) => `errors.${error[serviceErrorTypeId].tag}`)]),
    validators: new Set([...validators, ...ownValidators]),
    isOpen: Array.from(models).some((model) => model[validationTypeId] !== undefined)
  }
}

/** The parts of a node; those of a model are the variants that have fields of their own. */
const partsOf = (node: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> => {
  const model = modelOf(node)
  return [...model === undefined ? [] : [model.store.ast, model.create.ast], ...childrenOf(node, true)]
}

/** The validator names of the engine itself. */
const ownValidators: ReadonlyArray<string> = [
  ...Object.keys(de).flatMap((key) =>
    key.startsWith("validators.") ? [key.slice("validators.".length).split("@", 1)[0]!] : []
  ),
  "Converted",
  "JsonPatch"
]

const parameters: ReadonlyArray<string> = Object.keys({
  ...pageParameters(),
  ...overridableParameters,
  ...documentParameters,
  ...aggregationParameters,
  ...schemaParameters,
  ...manyParameters
})
