import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Formatter from "effect/Formatter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as Logger from "effect/Logger"
import * as References from "effect/References"
import { currentUserIdOf } from "../../internal/currentUser.ts"
import { quote } from "../../internal/json.ts"
import { requestIdOf } from "../request/requestId.ts"
import type { AccessEntry } from "./accessLog.ts"

/**
 * A log entry as one line of JSON, with the request's identifier if a request's fiber logs it, and the
 * subject of the current user if there is one.
 *
 * @internal
 */
export const lineOf = ({ cause, date, fiber, logLevel, message }: Logger.Options<unknown>): string => {
  const entry: { [key: string]: unknown } = {
    timestamp: date.toISOString(),
    level: logLevel.toUpperCase(),
    message: textOf(message)
  }
  const request = Context.getOrUndefined(fiber.context, HttpServerRequest.HttpServerRequest)
  if (request !== undefined) entry["request_id"] = requestIdOf(request)
  const subject = currentUserIdOf(fiber)
  if (subject !== undefined) entry["subject"] = subject
  for (const [key, value] of Object.entries(fiber.getRef(References.CurrentLogAnnotations))) {
    // An annotation must not replace the entry's own members.
    if (!Object.hasOwn(entry, key)) entry[key] = value
  }
  for (const [name, start] of fiber.getRef(References.CurrentLogSpans)) {
    entry[`${name}_ms`] ??= date.getTime() - start
  }
  if (cause.reasons.length > 0) entry["cause"] = Cause.pretty(cause)
  return `${Formatter.formatJson(entry)}\n`
}

/**
 * The JSON line of an access log entry. It is built by hand, since a server may log tens of thousands a second.
 *
 * @internal
 */
export const accessLineOf = (
  { address, duration, method, requestId, route, status, subject, time }: AccessEntry
): string =>
  `{"timestamp":"${timestampOf(time)}","level":"${
    status >= 500 ? "ERROR" : "INFO"
  }","message":"request","request_id":"${requestId}"${
    address === undefined ? "" : `,"address":"${address}"`
  },"method":"${method}","route":${route === undefined ? "null" : quote(route)},"status":${status},"duration_ms":${
    Math.round(duration * 1000) / 1000
  }${subject === undefined ? "" : `,"subject":${quote(subject)}`}}\n`

/**
 * The text of an access log entry for the console.
 *
 * @internal
 */
export const accessTextOf = ({ duration, method, requestId, route, status, subject, time }: AccessEntry): string =>
  `[${timestampOf(time).slice(11, 23)}] ${method} ${route ?? "(no route)"} ${status} ${
    duration.toFixed(1)
  }ms (${requestId})${subject === undefined ? "" : ` ${quote(subject)}`}\n`

let lastTime = NaN
let lastTimestamp = ""

/**
 * Formats milliseconds since 1970 as ISO 8601. Consecutive entries often have the same time.
 *
 * @internal
 */
export const timestampOf = (time: number): string => {
  if (time !== lastTime) {
    lastTime = time
    lastTimestamp = DateTime.formatIso(DateTime.makeUnsafe(time))
  }
  return lastTimestamp
}

const textOf = (message: unknown): unknown => {
  const parts = Array.isArray(message) ? message : [message]
  const texts = parts.map((part): unknown => part instanceof Error ? String(part) : part)
  return texts.length === 1 ? texts[0] : texts
}
