import * as Grant from "../../Access/Grant.ts"
import { fieldRuleProblem } from "../../Access/introspection.ts"
import * as Permission from "../../Access/Permission.ts"
import { parametersIn } from "../description/callEndpoint.ts"
import type { Registration } from "../registration/registration.ts"

/**
 * The first mistake in the rules of a registration.
 *
 * @internal
 */
export const ruleProblemOf = (registration: Registration, rules: Grant.Rules): string | undefined =>
  rules.grants.reduce<string | undefined>(
    (problem, rule) => problem ?? targetProblem(registration, rule) ?? fieldProblem(registration, rule),
    undefined
  ) ?? openProblem(registration, rules) ?? subjectProblem(registration, rules)

/**
 * The first role that something names and the engine does not know.
 *
 * @internal
 */
export const roleProblem = (what: string, named: ReadonlyArray<string>, known: ReadonlyArray<string>) => {
  const unknown = named.find((role) => !known.includes(role))
  return unknown === undefined
    ? undefined
    : `${what} is about the role ${unknown}, and there is only ${known.join(", ")}`
}

// internal

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
    const problem = fieldRuleProblem(model, path)
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
    ...methodsOf(registration).map((name) => ({ name, isCall: false, isOpen: described.some((one) => one === name) })),
    ...registration.calls.map(({ name, options }) => ({ name, isCall: true, isOpen: options.anonymous === true }))
  ]
  const wrong = endpoints.find(({ isCall, isOpen, name }) =>
    !isOpen &&
    Grant.grantIdsFor(rules, name, isCall).some((id) => Permission.isOpen(rules.grants[id]?.permission ?? []))
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
    Grant.grantIdsFor(rules, name, true).some((id) => asksForSubject(rules.grants[id]?.permission.node))
  )
  return wrong === undefined
    ? undefined
    : `a rule compares the subject with the id of ${wrong.name}, whose path has none`
}

const asksForSubject = (node: Permission.Node | undefined): boolean => {
  switch (node?._tag) {
    case "CurrentSubject":
      return true
    case "And":
    case "Or":
      return node.parts.some(asksForSubject)
    case "Not":
      return asksForSubject(node.part)
    default:
      return false
  }
}
