import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { type ModelLike, modelOf, ruleOf, validationTypeId } from "../../Model/introspection.ts"
import { fieldsOf, payloadOf, successOf } from "../description/callEndpoint.ts"
import { classesIn, listOf } from "../description/ownErrors.ts"
import {
  aggregationParameters,
  documentParameters,
  overridableParameters,
  pageParameters,
  schemaParameters
} from "../description/queryParameters.ts"
import { de } from "../messages/catalogues/de.ts"
import { en } from "../messages/catalogues/en.ts"
import type { Registration } from "../registration/registration.ts"
import { serviceErrorTypeId } from "../ServiceError.ts"
import type { Translations } from "../Translations.ts"

/**
 * Finds the keys of catalogues that a service does not use, with a sentence for each.
 *
 * @internal
 */
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
  /** The keys that the labels of calls begin with. */
  readonly calls: ReadonlyArray<string>
  /** Fields and parameters by name. */
  readonly names: ReadonlySet<string>
  readonly errors: ReadonlySet<string>
  readonly validators: ReadonlySet<string>
  /** Whether a model has a rule of its own, whose validator names are unknown. */
  readonly isOpen: boolean
}

const isUsed = (key: string, known: Known): boolean => {
  if (key.startsWith("errors.")) return known.errors.has(key)
  if (key.startsWith("models.")) return [...known.models].some(({ modelName }) => key === `models.${modelName}`)
  if (!key.startsWith("validators.")) return isLabel(key, known)
  const [type = "", place] = key.slice("validators.".length).split("@", 2)
  const isPlace = place === undefined || isLabel(place, known) || known.names.has(place.split(".").at(-1)!)
  return isPlace && (known.isOpen || known.validators.has(type))
}

const isLabel = (key: string, { calls, labels, names }: Known): boolean =>
  labels.has(key)
  || calls.some((call) => key.startsWith(call) && key.slice(call.length).split(".").every((name) => names.has(name)))

const knownIn = (registrations: ReadonlyArray<Registration>): Known => {
  const calls = registrations.flatMap(({ calls }) => calls)
  const resources = registrations.filter((registration) => registration._tag === "Resource")
  const found: Found = { models: new Set(), names: new Set(parameters), validators: new Set(), seen: new Set() }
  for (const { model } of resources) collect(model.ast, found)
  for (const { options } of calls) {
    const { params, payload, query } = options
    const parts = [Schema.isSchema(payload) ? payload : undefined, payloadOf(options), successOf(options)]
    for (const part of parts) if (part !== undefined) collect(part.ast, found)
    for (const [name, schema] of Object.entries({ ...fieldsOf(params), ...fieldsOf(query) })) {
      found.names.add(name)
      collect(schema.ast, found)
    }
  }
  const errors = classesIn([
    ...calls.flatMap(({ options }) => listOf(options.error ?? [])),
    ...resources.flatMap(({ description }) => Object.values(description.errors).flat())
  ])
  const models = [...found.models]
  return {
    models: found.models,
    labels: new Set(
      models.flatMap((model) => Object.keys(model.store.fields).map((key) => `${model.modelName}.${key}`))
    ),
    calls: registrations.flatMap(({ calls, name }) => calls.map((call) => `${name}.${call.name}.`)),
    names: found.names,
    errors: new Set([...Object.keys(en), ...errors.map((error) => `errors.${error[serviceErrorTypeId].tag}`)]),
    validators: new Set([...found.validators, ...ownValidators]),
    isOpen: models.some((model) => model[validationTypeId] !== undefined)
  }
}

interface Found {
  readonly models: Set<ModelLike>
  readonly names: Set<string>
  readonly validators: Set<string>
  readonly seen: Set<SchemaAST.AST>
}

/** Collects the nodes of a schema at every depth. */
const collect = (ast: SchemaAST.AST, found: Found): void => {
  if (found.seen.has(ast)) return
  found.seen.add(ast)
  const model = modelOf(ast)
  if (model !== undefined && !found.models.has(model)) {
    found.models.add(model)
    for (const schema of [model.store, model.create]) collect(schema.ast, found)
  }
  for (const check of ast.checks ?? []) {
    const rule = ruleOf(check)
    if (rule !== undefined) found.validators.add(rule.type)
  }
  for (const { to } of ast.encoding ?? []) collect(to, found)
  switch (ast._tag) {
    case "Declaration":
      return ast.typeParameters.forEach((part) => collect(part, found))
    case "Arrays":
      return [...ast.elements, ...ast.rest].forEach((part) => collect(part, found))
    case "Objects":
      ast.propertySignatures.forEach(({ name, type }) => {
        found.names.add(String(name))
        collect(type, found)
      })
      return ast.indexSignatures.forEach(({ type }) => collect(type, found))
    case "Union":
      return ast.types.forEach((part) => collect(part, found))
    case "Suspend":
      return collect(ast.thunk(), found)
  }
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
  ...schemaParameters
})
