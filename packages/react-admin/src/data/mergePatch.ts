/** What changes a document into another one (RFC 7396). */
import { isJson, type Json } from "../description/json.ts"

/** The members that differ: `null` for those that are gone. Lists are replaced as a whole. */
export const mergePatch = (before: Json, after: Json): Json => {
  const changed: { [member: string]: unknown } = {}
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [jsonOf(before[name]), jsonOf(after[name])]
    if (isSameJson(old, now)) continue
    if (now === undefined || now === null) changed[name] = null
    else changed[name] = isJson(old) && isJson(now) ? mergePatch(old, now) : now
  }
  return changed
}

/** Whether two values of JSON are the same; a member that is missing is `null`. */
export const isSameJson = (left: unknown, right: unknown): boolean => {
  const [one, other] = [jsonOf(left), jsonOf(right)]
  if (one === other) return true
  if ((one ?? null) === null || (other ?? null) === null) return (one ?? null) === (other ?? null)
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, i) => isSameJson(item, other[i]))
  }
  if (!isJson(one) || !isJson(other)) return false
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((name) => isSameJson(one[name], other[name]))
}

/** What JSON has of a value: a date is a text. */
const jsonOf = (value: unknown): unknown => value instanceof Date ? value.toJSON() : value
