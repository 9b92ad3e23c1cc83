/** Requests to a service over a real socket, with unchanged paths and bodies. */
import { assert } from "@effect/vitest"
import { Duration, Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import type { HttpApiGroup } from "effect/http-api"
import { Agent, request as httpRequest } from "node:http"
import { connect } from "node:net"
import type { Guard } from "../../src/Http/Guard.ts"
import type { KernelEngine as Engine } from "../../src/Http/KernelEngine.ts"
import { type DocumentStore, Jwt, KernelConfig, KernelServer, type Repository } from "../../src/index.ts"

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "HEAD" | "TRACE" | "QUERY"

export interface Answer {
  readonly status: number
  readonly headers: { readonly [name: string]: string | ReadonlyArray<string> | undefined }
  readonly text: string
  // The tests look into bodies of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

/** On a busy machine a read may take longer than a service lets it, where this is not what a test is about. */
const patient = Layer.effect(
  KernelConfig.Limits,
  Effect.map(KernelConfig.Limits, (limits) => {
    const isDefault = Duration.equals(limits.queryTimeout, KernelConfig.Limits.defaultValue().queryTimeout)
    return isDefault ? { ...limits, queryTimeout: Duration.minutes(2) } : limits
  })
)

/** An engine on the server that services run on, with the store beside it. */
export const serving = <
  Id extends string,
  G extends HttpApiGroup.Constraint,
  R extends Repository.RepositoryOf<string>,
  Needs,
  E,
  Guards extends Guard = never
>(
  engine: Engine<Id, G, R, Needs, Guards>,
  store: Layer.Layer<DocumentStore.DocumentStore, E>
) =>
  engine.layerServe.pipe(
    Layer.provide(Layer.fresh(patient)),
    Layer.provideMerge(store),
    Layer.provideMerge(KernelServer.layerWith({ address: "127.0.0.1", port: 0 }))
  )

const portOf = Effect.map(HttpServer.HttpServer, ({ address }) => "port" in address ? address.port : 0)

export type Headers = { readonly [name: string]: string }

const agent = new Agent({ keepAlive: true })

/** Sends one request to an address. A body other than text or bytes is sent as JSON. */
export const sendTo = (
  baseUrl: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Headers = {},
  // A kept connection may be closed by the server while a busy machine has not yet read so.
  kept: Agent | false = false
): Effect.Effect<Answer> =>
  Effect.callback<Answer>((resume) => {
    const bytes = body === undefined ? undefined : Buffer.isBuffer(body) ? body : Buffer.from(
      typeof body === "string" ? body : JSON.stringify(body)
    )
    const { hostname, origin, port } = new URL(baseUrl)
    const sent = httpRequest({
      agent: kept,
      host: hostname,
      port,
      method,
      path: baseUrl.slice(origin.length) + path,
      headers: {
        ...(bytes === undefined ? {} : { "content-type": "application/json", "content-length": bytes.length }),
        ...headers
      }
    }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", (error) => resume(Effect.die(error)))
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8")
        const isJson = response.headers["content-type"]?.startsWith("application/json") === true &&
          response.headers["content-encoding"] === undefined
        resume(Effect.sync((): Answer => ({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          body: isJson && text !== "" ? JSON.parse(text) : undefined
        })))
      })
    })
    sent.on("error", (error) => resume(Effect.die(error)))
    sent.end(bytes)
  })

/** Sends one request to the service that is served. */
export const send = (method: Method, path: string, body?: unknown, headers: Headers = {}) =>
  Effect.flatMap(portOf, (port) => sendTo(`http://127.0.0.1:${port}`, method, path, body, headers, agent))

/** The header of somebody who has signed in. */
export const bearer = (token: unknown) => ({ authorization: `Bearer ${String(token)}` })

/** {@link bearer} of a token that the service takes. */
export const signed = (content: Jwt.TokenContent) =>
  Effect.flatMap(
    Jwt.Jwt,
    ({ sign }) => Effect.map(Effect.orDie(sign(content)), (token) => bearer(Redacted.value(token)))
  )

export const signedAs = (subject: string, ...roles: ReadonlyArray<string>) => signed({ subject, roles })

/** Sends bytes unchanged, and returns all received bytes when the server closes the connection. */
export const sendBytes = (bytes: string | Buffer) =>
  Effect.flatMap(portOf, (port) =>
    Effect.callback<string>((resume) => {
      let text = ""
      const socket = connect(port, "127.0.0.1", () => socket.write(bytes))
      socket.setEncoding("utf8")
      socket.on("data", (chunk: string) => {
        text += chunk
      })
      socket.on("error", () => {})
      socket.on("close", () => resume(Effect.succeed(text)))
    }))

/** Asserts that the answer is an `ErrorMessage` of this status, and returns it. */
export const refused = (status: number, answer: Answer): Answer => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.match(String(answer.headers["content-type"]), /^application\/json/u)
  assert.deepInclude(answer.body, { _type: "ErrorMessage", code: status })
  assert.isString(answer.body.message)
  return answer
}

/** `field validator` of each problem of a 400. */
export const problemsIn = (answer: Answer): Array<string> =>
  refused(400, answer).body.errors.map((
    { field, validator }: { readonly field: string; readonly validator: string }
  ) => `${field} ${validator}`)

/** The fields of each problem of a 400. */
export const fieldsIn = (answer: Answer): Array<string> =>
  refused(400, answer).body.errors.map(({ field }: { readonly field: string }) => field)

/** Runs effects concurrently. */
export const atOnce = <A, E, R>(count: number, one: (i: number) => Effect.Effect<A, E, R>) =>
  Effect.forEach(Array.from({ length: count }, (_, i) => i), one, { concurrency: count })

/** The number of answers of each status: `{ 200: 7, 201: 1 }`. */
export const statusesOf = (answers: ReadonlyArray<Answer>): { readonly [status: number]: number } => {
  const counts: { [status: number]: number } = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
