/** Explains the validation errors of MongoDB without the values of the document. */
import { type BrokenRule, describeBroken } from "@appkernel/document-store/internal"
import * as Predicate from "effect/Predicate"

/** The server's error code `DocumentValidationFailure`. */
export const brokenRuleCode = 121

/** The rules that a document breaks, as `errInfo` of the server's error has them. */
export const brokenRules = (errInfo: unknown): string => describeBroken(rulesOf(at(errInfo, "details"), []))

const at = (value: unknown, key: string): unknown => Predicate.isObject(value) ? Reflect.get(value, key) : undefined

const listAt = (value: unknown, key: string): ReadonlyArray<unknown> => {
  const list = at(value, key)
  return Array.isArray(list) ? list : []
}

type Path = ReadonlyArray<string>

const rulesOf = (details: unknown, path: Path): ReadonlyArray<BrokenRule> => {
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
      return listAt(details, "missingProperties").map((name) => ({ path: [...path, String(name)], keyword: rule }))
    case "additionalProperties":
      return listAt(details, rule).map((name) => ({ path: [...path, String(name)], keyword: rule }))
    default:
      return typeof rule === "string" ? [{ path, keyword: rule }] : []
  }
}

const allRulesOf = (holder: unknown, path: Path): ReadonlyArray<BrokenRule> =>
  listAt(holder, "details").flatMap((inner) => rulesOf(inner, path))
