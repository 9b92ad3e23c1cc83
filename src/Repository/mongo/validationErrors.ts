/**
 * Explains the validation errors of MongoDB without the values of the document.
 */
import * as Predicate from "effect/Predicate"

/**
 * The server's error code `DocumentValidationFailure`.
 *
 * @internal
 */
export const brokenRuleCode = 121

// A document may break any number of rules; the message is bounded.
const maxRules = 20

/**
 * The rules that a document breaks, as `errInfo` of the server's error has them: `name (required), age (minimum)`.
 *
 * @internal
 */
export const brokenRules = (errInfo: unknown): string => {
  const rules = Array.from(new Set(rulesOf(at(errInfo, "details"), [])))
  return rules.length === 0
    ? "the document does not fulfil the rules of its collection"
    : `the document does not fulfil the rules of its collection: ${rules.slice(0, maxRules).join(", ")}`
      + (rules.length > maxRules ? ", …" : "")
}

const at = (value: unknown, key: string): unknown => Predicate.isObject(value) ? Reflect.get(value, key) : undefined

const listAt = (value: unknown, key: string): ReadonlyArray<unknown> => {
  const list = at(value, key)
  return Array.isArray(list) ? list : []
}

type Path = ReadonlyArray<string>

const named = (path: Path, rule: string): string => path.length === 0 ? rule : `${path.join(".")} (${rule})`

const rulesOf = (details: unknown, path: Path): ReadonlyArray<string> => {
  const rule = at(details, "operatorName")
  const inside = (key: string, name: string) =>
    listAt(details, key).flatMap((property) => allRulesOf(property, [...path, String(at(property, name))]))
  switch (rule) {
    case "$jsonSchema":
      return listAt(details, "schemaRulesNotSatisfied").flatMap((inner) => rulesOf(inner, path))
    case "properties":
      return inside("propertiesNotSatisfied", "propertyName")
    case "items":
      return allRulesOf(details, [...path, String(at(details, "itemIndex"))])
    case "required":
      return listAt(details, "missingProperties").map((name) => named([...path, String(name)], rule))
    case "additionalProperties":
      return listAt(details, rule).map((name) => named([...path, String(name)], rule))
    default:
      return typeof rule === "string" ? [named(path, rule)] : []
  }
}

const allRulesOf = (holder: unknown, path: Path): ReadonlyArray<string> =>
  listAt(holder, "details").flatMap((inner) => rulesOf(inner, path))
