/** Valid and invalid requests for the operations of an OpenAPI document. */
import { Arbitrary, Effect, Result, Schema } from "effect"
import * as Http from "node:http"
import { type Json, mutated, type Mutation, valuesOf } from "./jsonValues.ts"

/** Checks of requests and answers against an OpenAPI document. */
export interface Checks {
  /** Whether the document accepts the value as the body of this content type. */
  readonly accepts: (operation: Operation, mediaType: string, value: unknown) => boolean
  /** The differences between the answer and the document; empty when there are none. */
  readonly differences: (operation: Operation, answer: Answer) => ReadonlyArray<string>
}

/** A generated plan of a request. `prepare` makes the request. */
export interface Plan {
  readonly twist: Twist
  readonly ids: ReadonlyArray<number>
  readonly type: number
  readonly body: unknown
  readonly mutations: ReadonlyArray<Mutation>
  readonly query: { readonly [name: string]: unknown }
  readonly headers: ReadonlyArray<number>
  readonly odd: number
}

const twists = ["none", "body", "malformed", "type", "query", "unknown", "id", "accept", "headers"] as const
type Twist = (typeof twists)[number]

export interface Operation {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly operation: Json
}

export interface Request {
  readonly method: string
  readonly path: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string | Buffer | undefined
}

export interface Answer {
  readonly status: number
  readonly headers: Http.IncomingHttpHeaders
  readonly text: string
}

export const operationsOf = (document: Json): ReadonlyArray<Operation> =>
  Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.entries<Json>(item).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      operation
    }))
  )

const natural = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 }))

const parametersIn = ({ operation }: Operation, place: string): ReadonlyArray<Json> =>
  (operation.parameters ?? []).filter((parameter: Json) => parameter.in === place)

const jsonBodyOf = ({ operation }: Operation): Json => operation.requestBody?.content["application/json"]?.schema

/** The plans of requests to an operation. */
export const plansOf = (operation: Operation, document: Json): Arbitrary.Arbitrary<Plan> => {
  const schema = jsonBodyOf(operation)
  const query = parametersIn(operation, "query")
  return Arbitrary.all({
    // Every second request is valid.
    twist: Arbitrary.map(Arbitrary.schema(natural), (n): Twist => n % 2 === 0 ? "none" : twists[n % twists.length]!),
    ids: Arbitrary.schema(Schema.Tuple([natural, natural])),
    type: Arbitrary.schema(natural),
    body: schema === undefined ? Arbitrary.Constant(undefined) : valuesOf(schema, document),
    mutations: Arbitrary.array(
      Arbitrary.schema(Schema.Struct({
        kind: Schema.Literals(["replace", "replace", "remove", "add"]),
        where: natural,
        what: natural
      })),
      { minLength: 1, maxLength: 2 }
    ),
    query: Arbitrary.all(
      Object.fromEntries(query.map((parameter) => [parameter.name, queryValuesOf(parameter, document)]))
    ),
    headers: Arbitrary.schema(Schema.Tuple([natural, natural, natural])),
    odd: Arbitrary.schema(natural)
  })
}

/** Optional parameters are mostly `undefined`, since they can contradict each other. */
const queryValuesOf = ({ name, required, schema }: Json, document: Json): Arbitrary.Arbitrary<unknown> => {
  const samples = texts[name] ?? (schema.type === "string" && Object.keys(schema).length === 1 ? conditions : undefined)
  const values: Arbitrary.Arbitrary<unknown> = samples === undefined
    ? valuesOf(schema, document)
    : Arbitrary.map(Arbitrary.schema(natural), (n) => samples[n % samples.length])
  if (required === true) return values
  return Arbitrary.map(
    Arbitrary.all({ value: values, given: Arbitrary.schema(natural) }),
    ({ given, value }) => given % 8 === 0 ? value : undefined
  )
}

const native = [
  "{}",
  "{\"count\":{\"$gt\":1}}",
  "{\"$where\":\"1\"}",
  "{\"$or\":[]}",
  "{\"text\":{\"$regex\":\"(\"}}",
  "{\"day\":{\"$gt\":{\"$date\":\"2020-01-01T00:00:00Z\"}}}",
  "[]",
  "{",
  "null"
]

const texts: { readonly [name: string]: ReadonlyArray<string> } = {
  query: native,
  pipe: [
    "[]",
    "[{\"$match\":{}}]",
    "[{\"$count\":\"n\"}]",
    "[{\"$group\":{\"_id\":null,\"n\":{\"$sum\":1}}}]",
    "[{\"$project\":{\"id\":1,\"day\":1}}]",
    "[{\"$out\":\"x\"}]",
    "[{\"$lookup\":{}}]",
    "[{\"$nope\":1}]",
    "{}",
    "[",
    "[{\"$limit\":-1}]",
    "[{\"$match\":{\"secret\":\"x\"}}]"
  ],
  sort_by: ["id", "-id", "text", "count,-id", "day", "part.label", "secret", "", "nope", "parts"],
  fields: ["id", "text", "text,count", "part", "part.label", "parts.since", "labels", "secret", "", "nope"],
  cursor: ["", "nonsense", "W10"]
}

// dprint-ignore
const conditions = [
  "x",
  ">5", "<5", ">=2020-01-01", "~a", "!x", "!null", "null", "[a,b]", "![1,2]", "#2", "", "1", "true", "a",
  "2020-01-31", "2020-01-31T10:00:00", "\"x\"", "[", "\u0000", "é", ">", "1e400", "31.01.2020"
]

/** The existing identifiers, by the path of the collection. */
export type Pool = Map<string, Array<string>>

/** The collection whose identifiers a property of this name holds. */
export interface References {
  readonly [property: string]: string
}

/** The value with identifiers of existing documents. */
const referring = (value: unknown, references: References, pool: Pool, choice: number): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map((part) => referring(part, references, pool, choice))
  return Object.fromEntries(
    Object.entries(value).map(([key, part]: [string, unknown]) => {
      const known = pool.get(Object.hasOwn(references, key) ? references[key]! : "") ?? []
      return [key, known.length > 0 ? known[choice % known.length] : referring(part, references, pool, choice)]
    })
  )
}

const strangeIds = ["none", "%00", "%ED%A0%80", "a%2Fb", "%25", "%", "a.b", "x".repeat(4_000), "%2e%2e", "ä", ";a=b"]

const typesOfBodies = ["text/plain", "application/xml", "", "application/json; charset=utf-8", "application/JSON", "x"]

const malformedBodies = [
  "",
  "{",
  "null",
  "[]",
  "1",
  "\"x\"",
  "{\"a\":1}x",
  "\u{feff}{}",
  "{\"a\":\"\\ud800\"}",
  "[[[]]]"
]

const oddHeaders: ReadonlyArray<readonly [name: string, values: ReadonlyArray<string>]> = [
  ["If-Match", ["*", "\"1\"", "\"2\"", "W/\"1\"", "\"1\", \"2\"", "1", "", "\"", "\"x\""]],
  ["If-None-Match", ["*", "\"1\"", "\"2\"", "W/\"1\"", "nonsense", "\"9999\""]],
  ["Prefer", ["return=representation", "return=minimal", "return=else", "return", "respond-async", "\""]]
]

const accepts = [
  "text/html",
  "application/xml;q=0.9",
  "*/*;q=0",
  "application/*",
  "nonsense",
  "application/json;q=0",
  ""
]

export interface Prepared {
  readonly request: Request
  /** Whether the document accepts the request. */
  readonly isValid: boolean
  /** Whether the document rejects the body. */
  readonly isInvalidBody: boolean
}

/** The request of a plan, with identifiers from the pool. */
export const prepare = (
  operation: Operation,
  planned: Plan,
  { checks, pool, references }: { readonly checks: Checks; readonly pool: Pool; readonly references: References }
): Prepared => {
  const plan = { ...planned, body: referring(planned.body, references, pool, planned.odd) }
  const { twist } = plan
  const known = pool.get(operation.path.slice(0, Math.max(operation.path.indexOf("/{"), 0))) ?? []
  let n = 0
  let isKnown = true
  const path = operation.path.replaceAll(/\{(\w+)\}/gu, (_, name: string) => {
    const choice = plan.ids[n++] ?? 0
    const isFirst = n === 1
    if (isFirst && known.length > 0 && twist !== "id") return encodeURIComponent(known[choice % known.length]!)
    if (isFirst && operation.path.includes("{id}")) isKnown = false
    if (twist === "id") return strangeIds[choice % strangeIds.length]!
    return parametersIn(operation, "path").find((one) => one.name === name)?.schema.type === "integer" ? "1" : "some"
  })

  const query = parametersIn(operation, "query")
  const search: Array<string> = []
  let isValidQuery = true
  const put = (name: string, value: unknown) => search.push(`${encodeURIComponent(name)}=${encoded(String(value))}`)
  for (const { name, required, schema } of query) {
    const value = twist === "query" && plan.odd % 3 === 0 && required === true ? undefined : plan.query[name]
    if (value === undefined) {
      if (required === true) isValidQuery = false
      continue
    }
    for (const one of Array.isArray(value) ? value : [value]) put(name, one)
    // The document describes the values of these only in words.
    const isSaid = typeof value === "string" && schema?.pattern !== undefined &&
      new RegExp(schema.pattern, "u").test(value)
    if (!isSaid && (name in texts || schema.type === "string" && Object.keys(schema).length === 1)) isValidQuery = false
  }
  const [first] = query
  if (twist === "query" && first !== undefined) {
    const { name } = query[plan.odd % query.length]!
    put(name, ["", "x", "-1", "1.5", "1e99", "true", "\u0000", "[object Object]"][plan.odd % 8])
  }
  if (twist === "unknown") put(["nope", "__proto__", "_type", "id", "constructor", "a[b]"][plan.odd % 6]!, "1")

  const headers: { [name: string]: string } = {}
  if (twist === "accept") headers["Accept"] = accepts[plan.odd % accepts.length]!
  for (const [i, [name, values]] of oddHeaders.entries()) {
    const choice = plan.headers[i] ?? 0
    if (twist === "headers" || name === "Prefer" && choice % 2 === 0) headers[name] = values[choice % values.length]!
  }

  const { body, isInvalidBody, isValidBody, mediaType } = bodyOf(operation, plan, checks)
  if (mediaType !== undefined) headers["Content-Type"] = mediaType
  return {
    request: {
      method: operation.method,
      path: search.length === 0 ? path : `${path}?${search.join("&")}`,
      headers,
      body
    },
    isValid: twist === "none" && isValidQuery && isValidBody && isKnown,
    isInvalidBody
  }
}

/** Lone surrogates can't be encoded in a URL. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())

const bodyOf = (operation: Operation, plan: Plan, checks: Checks): {
  readonly body: string | Buffer | undefined
  readonly isValidBody: boolean
  readonly isInvalidBody: boolean
  readonly mediaType: string | undefined
} => {
  const { requestBody } = operation.operation
  if (requestBody === undefined) {
    return { body: undefined, isValidBody: true, isInvalidBody: false, mediaType: undefined }
  }
  const names = Object.keys(requestBody.content)
  const isFile = !names.includes("application/json")
  // Mostly in the content type that every operation but those of files accepts.
  const name = plan.type % 3 > 0 && !isFile ? "application/json" : names[plan.type % names.length]!
  const { twist } = plan
  if (twist === "malformed") {
    const body = malformedBodies[plan.odd % malformedBodies.length]!
    const json = Result.try((): unknown => JSON.parse(body))
    const isInvalidBody = Result.isFailure(json) || !checks.accepts(operation, name, json.success)
    return { body, isValidBody: false, isInvalidBody, mediaType: headerOf(name) }
  }
  if (twist === "type") {
    const header = typesOfBodies[plan.odd % typesOfBodies.length]!
    return { body: "{}", isValidBody: false, isInvalidBody: false, mediaType: header }
  }
  if (isFile) {
    const isValidBody = twist !== "body"
    const bytes = isValidBody ? png : Buffer.from("<html>no picture</html>")
    const body = name === "multipart/form-data" ? formOf({ file: bytes }) : bytes
    return { body, isValidBody, isInvalidBody: !isValidBody, mediaType: headerOf(name) }
  }
  let value: unknown = name === "application/json-patch+json" ? jsonPatches[plan.odd % jsonPatches.length] : plan.body
  if (twist === "body") { for (const mutation of plan.mutations) value = mutated(value, mutation) }
  if (name === "multipart/form-data") {
    const form = typeof value === "object" && value !== null && !Array.isArray(value) ? value : {}
    const files = Object.entries<Json>(requestBody.content[name].schema.properties ?? {}).flatMap(([field, schema]) =>
      schema.format === "binary" && plan.odd % 2 === 0 ? [[field, png] as const] : []
    )
    return {
      body: formOf({ ...form, ...Object.fromEntries(files) }),
      isValidBody: isWellFormed(form) && checks.accepts(operation, name, form),
      isInvalidBody: false,
      mediaType: headerOf(name)
    }
  }
  const isAccepted = checks.accepts(operation, name, value)
  return {
    body: JSON.stringify(value) ?? "",
    isValidBody: isAccepted && isWellFormed(value) && name !== "application/json-patch+json",
    isInvalidBody: !isAccepted,
    mediaType: headerOf(name)
  }
}

/** Whether every store can hold the text. Schemas do not express this. */
const isWellFormed = (value: unknown): boolean => {
  const text = JSON.stringify(value)
  return !/\\u0000|\\ud[89a-f]/iu.test(text)
}

const headerOf = (name: string): string => name === "multipart/form-data" ? `${name}; boundary=boundary` : name

/** A form; bytes are pictures in files. */
const formOf = (value: object): Buffer => {
  const parts = Object.entries(value).map(([name, part]: [string, unknown]) => {
    if (Buffer.isBuffer(part)) {
      const head = `Content-Disposition: form-data; name="${name}"; filename="a.png"\r\nContent-Type: image/png`
      return Buffer.concat([Buffer.from(`--boundary\r\n${head}\r\n\r\n`), part, Buffer.from("\r\n")])
    }
    const isText = typeof part === "string" && part !== ""
    const type = isText ? "" : "Content-Type: application/json\r\n"
    const text = isText ? part.toWellFormed() : JSON.stringify(part)
    const quoted = name.replaceAll("\"", "%22")
    return Buffer.from(`--boundary\r\nContent-Disposition: form-data; name="${quoted}"\r\n${type}\r\n${text}\r\n`)
  })
  return Buffer.concat([...parts, Buffer.from("--boundary--\r\n")])
}

/** A picture of one pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)

const jsonPatches: ReadonlyArray<unknown> = [
  [],
  [{ op: "test", path: "/_type", value: "x" }],
  [{ op: "replace", path: "/flag", value: true }],
  [{ op: "replace", path: "/text", value: "patched" }, { op: "remove", path: "/email" }],
  [{ op: "add", path: "/tags/-", value: "x" }],
  [{ op: "copy", from: "/text", path: "/code" }],
  [{ op: "move", from: "/secret", path: "/text" }],
  [{ op: "replace", path: "", value: {} }],
  [{ op: "replace", path: "/id", value: "x" }],
  [{ op: "add", path: "/parts/9", value: { label: "x" } }],
  [{ op: "add", path: "/fields", value: "y" }, { op: "replace", path: "/number", value: 7 }],
  [{ op: "nope", path: "/text" }],
  [{ op: "add", path: "text", value: 1 }],
  [{ op: "add", path: "/text" }]
]

/** Sends it over a keep-alive connection. Of events, which do not end, the first piece is the answer. */
export const send = (base: string, agent: Http.Agent, request: Request): Effect.Effect<Answer> =>
  Effect.callback<Answer>((resume) => {
    const { hostname, port } = new URL(base)
    const { body, headers, method, path } = request
    const sent = Http.request({
      agent,
      hostname,
      port,
      method,
      path,
      headers: body === undefined ? headers : { ...headers, "Content-Length": Buffer.byteLength(body) }
    }, (response) => {
      const chunks: Array<Buffer> = []
      const answered = () => {
        const text = Buffer.concat(chunks).toString("utf8")
        resume(Effect.succeed({ status: response.statusCode ?? 0, headers: response.headers, text }))
      }
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk)
        if (response.headers["content-type"] !== "text/event-stream") return
        answered()
        response.destroy()
      })
      response.on("end", answered)
    })
    sent.on("error", (error) => resume(Effect.die(error)))
    sent.end(body)
  })
