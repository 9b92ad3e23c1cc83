/**
 * Checks registrations for mistakes.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Grant from "../../Access/Grant.ts"
import type * as Permission from "../../Access/Permission.ts"
import { managedField, restrictionProblem } from "../../Model/internal.ts"
import { ownerOf } from "../../Repository/internal.ts"
import { partProblem, unknownInLocation } from "../description/operationEndpoint.ts"
import { parametersIn, pathProblem } from "../description/pathShape.ts"
import { filterNamesOf, manyParameters } from "../description/queryParameters.ts"
import type { Registration, ResourceInfo } from "../registration/registration.ts"
import { hookNames, methodOfHook } from "../Resource.ts"
import { permissionsOf } from "../resource/rules.ts"
import { type AnyImplementation, implemented } from "../routes/implemented.ts"

/**
 * Occurs when a registration is invalid: its model has no identifier or the name of another model, a hook would never
 * run, an option is unknown, a rule is about nothing that there is, or its implementation does not fit. `detail` describes it in a sentence. A retry fails again.
 *
 * @category errors
 * @since 0.1.0
 */
export class RegistrationInvalid extends Schema.TaggedError<RegistrationInvalid>()("RegistrationInvalid", {
  /** The name of the registration. */
  registration: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `The registration "${this.registration}" can't be served: ${this.detail}`
  }
}

/** Fails for an invalid registration, before the service is built. @internal */
export const rejectInvalid = Effect.fnUntraced(function*(
  registrations: ReadonlyArray<Registration>,
  implementations: ReadonlyArray<AnyImplementation>,
  roles: ReadonlyArray<string> | undefined
): Effect.fn.Return<void, RegistrationInvalid> {
  for (const { description } of implementations) {
    if (registrations.some((registration) => registration.description === description)) continue
    const registration = "model" in description ? description.model.modelName : description.name
    return yield* new RegistrationInvalid({ registration, detail: "its description is not registered" })
  }
  const models = new Map<string, ResourceInfo["model"]>()
  for (const registration of registrations) {
    const { rules } = implemented(registration, implementations)
    const detail = unknownOptionOf(registration) ?? pathProblem(registration.path, registration.name, false) ??
      operationProblemOf(registration) ??
      handlerProblemOf(registration, implementations) ??
      ruleProblemOf(registration, rules) ??
      (roles === undefined
        ? undefined
        : roleProblem("a rule", rules.grants.flatMap(({ permission }) => rolesOf(permission)), roles)) ??
      (registration._tag === "Resource" ? registrationProblem(registration, models) : undefined)
    if (detail !== undefined) return yield* new RegistrationInvalid({ registration: registration.name, detail })
    if (registration._tag === "Resource") models.set(registration.model.modelName, ownerOf(registration.model))
  }
})

/** Fails for a role that an option of the engine names and the engine does not know. @internal */
export const rejectUnknownRoles = ({ api, explorer, mcp, openApi, options, security }: {
  readonly api: { readonly id: string }
  readonly options: { readonly roles?: ReadonlyArray<string> | undefined }
  readonly security?: { readonly roles?: { readonly [role: string]: ReadonlyArray<string> } | undefined } | undefined
  readonly openApi: { readonly require?: Permission.OneOrMore | undefined } | undefined
  readonly mcp?: { readonly require?: Permission.OneOrMore | undefined } | undefined
  readonly explorer?: { readonly require?: Permission.OneOrMore | undefined } | undefined
}): Effect.Effect<void, RegistrationInvalid> => {
  if (options.roles === undefined) return Effect.void
  const included = Object.entries(security?.roles ?? {}).flatMap(([role, others]) => [role, ...others])
  const readers = permissionsOf(openApi?.require ?? []).flatMap(rolesOf)
  const assistants = permissionsOf(mcp?.require ?? []).flatMap(rolesOf)
  const detail = roleProblem("enableSecurity", included, options.roles) ??
    roleProblem("enableOpenApi", readers, options.roles) ??
    roleProblem("enableMcp", assistants, options.roles) ??
    roleProblem("enableExplorer", permissionsOf(explorer?.require ?? []).flatMap(rolesOf), options.roles)
  return detail === undefined ? Effect.void : Effect.fail(new RegistrationInvalid({ registration: api.id, detail }))
}

// internal

const unknownOptionOf = ({ givenOptions }: Registration): string | undefined => {
  const unknown = givenOptions.filter((name) => !knownOptions.has(name))
  if (unknown.length === 0) return undefined
  const [hint = ""] = unknown.flatMap((name) => hints.get(name) ?? [])
  return `there is no option ${unknown.join(", ")}${hint}`
}

/** Where what is no option of a registration stands. */
const hints: ReadonlyMap<string, string> = new Map([
  ["hooks", "; hooks stand on the resource, as in Resource.make(Model).beforePost(…)"],
  ["form", "; a resource has the form of its model, as in Resource.make(Model.form(User, 1))"],
  ["methods", "; a resource has its own methods, as in Resource.make(User, { methods: [\"GET\"] })"]
])

const knownOptions: ReadonlySet<string> = new Set([
  "urlBase",
  "tags",
  "enableHateoas",
  "onExcessProperty",
  "lists",
  "describes",
  "onKnownId",
  "idempotencyKeys",
  "storeOptions",
  "files",
  "segment",
  "name",
  "deprecated",
  "sunset",
  "auditLog",
  "timeout",
  "cacheControl",
  "pageTags",
  "tables",
  "many",
  "priority"
])

const operationProblemOf = ({ calls }: Registration): string | undefined => {
  for (const call of calls) {
    const { name, options } = call
    const [unknown] = unknownInLocation(options)
    if (unknown !== undefined) return `the location of ${name} names ${unknown}, which its result does not have`
    const problem = partProblem(call)
    if (problem !== undefined) return problem
  }
  return undefined
}

const handlerProblemOf = (
  { calls, description, methods }: Registration & { readonly methods?: ResourceInfo["methods"] },
  implementations: ReadonlyArray<AnyImplementation>
): string | undefined => {
  const own = implementations.filter((implementation) => implementation.description === description)
  const [implementation] = own
  if (own.length > 1) return "it has two implementations"
  const missing = calls.find(({ name }) => implementation?.handlers.has(name) !== true)
  if (missing !== undefined) return `${missing.name} has no handler`
  const surplus = [...implementation?.handlers.keys() ?? []].find((name) => !calls.some((call) => call.name === name))
  if (surplus !== undefined) return `the handler ${surplus} belongs to nothing that is described`
  if (implementation === undefined || !("hooks" in implementation) || methods === undefined) return undefined
  const idle = implementation.hooks.find(({ name }) => !methods.includes(methodOfHook(name)))
  return idle === undefined
    ? undefined
    : `${idle.name} never runs, since ${methodOfHook(idle.name)} is not among the methods ${methods.join(", ")}`
}

const registrationProblem = (
  registration: ResourceInfo,
  others: ReadonlyMap<string, ResourceInfo["model"]>
): string | undefined => {
  const { model } = registration
  const name = model.modelName
  if (managedField(model, "id") === undefined) return `the model ${name} has no field "id"`
  const other = others.get(name)
  if (other !== undefined && other !== ownerOf(model)) {
    return `another model is named ${name}, too, and their documents would get mixed up`
  }
  if (["hooks", ...hookNames].some((hook) => hook in model)) {
    return `the hooks of the model ${name} never run; they stand on its resource, as in Resource.make(${name}).beforePost(…)`
  }
  return manyProblem(registration)
}

/** Why there can't be the writes of many documents, if there can't. */
const manyProblem = ({ many, methods, model }: ResourceInfo): string | undefined => {
  if (many.length === 0) return undefined
  const missing = many.find((method) => !methods.includes(method))
  if (missing !== undefined) return `many has ${missing}, which is not among the methods`
  if (!methods.includes("GET")) return "many needs the filters of GET, which is not among the methods"
  const taken = Object.keys(manyParameters).find((name) => filterNamesOf(model).includes(name))
  return taken === undefined ? undefined : `the field ${taken} can't be told from the parameter of many documents`
}

/** The first mistake in the rules of a registration. */
const ruleProblemOf = (registration: Registration, rules: Grant.Rules): string | undefined =>
  rules.grants.reduce<string | undefined>(
    (problem, rule) => problem ?? targetProblem(registration, rule) ?? fieldProblem(registration, rule),
    undefined
  ) ?? openProblem(registration, rules) ?? subjectProblem(registration, rules)

/** The first role that something names and the engine does not know. */
const roleProblem = (what: string, named: ReadonlyArray<string>, known: ReadonlyArray<string>) => {
  const unknown = named.find((role) => !known.includes(role))
  return unknown === undefined
    ? undefined
    : `${what} is about the role ${unknown}, and there is only ${known.join(", ")}`
}

const methodsOf = (registration: Registration): ReadonlyArray<string> =>
  registration._tag === "Service" ? [] : registration.methods

const targetProblem = (registration: Registration, { on = [] }: Grant.Rule): string | undefined => {
  const known = [...methodsOf(registration), ...registration.calls.map(({ name }) => name)]
  const unknown = on.find((name) => !known.includes(name))
  return unknown === undefined ? undefined : `a rule is about ${unknown}, and there is only ${known.join(", ")}`
}

const fieldProblem = (registration: Registration, { fields }: Grant.Rule): string | undefined => {
  if (registration._tag === "Service" || fields === undefined) return undefined
  const { model } = registration
  for (const path of [...fields.hide, ...fields.readOnly]) {
    if (path === managedField(model, "id")) {
      return `${model.modelName}.${path} is the identifier, which is part of every URL`
    }
    const problem = restrictionProblem(model, path)
    if (problem !== undefined) return problem
  }
  const undescribed = fields.hide.find((path) => !registration.description.hidden.includes(path))
  if (undescribed !== undefined) {
    return `a rule hides ${undescribed}, which is not described as hidden: name it in the option hidden of Resource.describe`
  }
  return undefined
}

/** The description says which endpoints admit callers without credentials, so that clients and handlers know. */
const openProblem = (registration: Registration, rules: Grant.Rules): string | undefined => {
  const described = registration._tag === "Service" ? [] : registration.description.anonymous
  const endpoints = [
    ...methodsOf(registration).map((name) => ({
      name,
      isOperation: false,
      isOpen: described.some((one) => one === name)
    })),
    ...registration.calls.map(({ name, options }) => ({ name, isOperation: true, isOpen: options.anonymous === true }))
  ]
  const wrong = endpoints.find(({ isOperation, isOpen, name }) =>
    !isOpen &&
    rules.idsFor(name, isOperation).some((id) => rules.grants[id]!.permission.isOpen)
  )
  return wrong === undefined
    ? undefined
    : `a rule admits callers without credentials to ${wrong.name}, which is not described as anonymous`
}

/** An operation addresses a subject by the parameter `id` of its path only. */
const subjectProblem = (registration: Registration, rules: Grant.Rules): string | undefined => {
  if (registration._tag === "Resource") return undefined
  const wrong = registration.calls.find(({ name, path }) =>
    !parametersIn(path).includes("id") &&
    rules.idsFor(name, true).some((id) => asksForSubject(rules.grants[id]!.permission))
  )
  return wrong === undefined
    ? undefined
    : `a rule compares the subject with the id of ${wrong.name}, whose path has none`
}

const asksForSubject = ({ leaves }: Permission.Any): boolean => leaves.some(({ _tag }) => _tag === "CurrentSubject")

const rolesOf = ({ leaves }: Permission.Any): ReadonlyArray<string> =>
  leaves.flatMap((leaf) => leaf._tag === "Role" ? [leaf.name] : [])
