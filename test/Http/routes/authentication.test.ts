import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Redacted, References, Schema, Tracer } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { connect } from "node:net"
import { makeErrorResponses } from "../../../src/Http/response/translatedResponses.ts"
import { makeAuthenticator } from "../../../src/Http/routes/authentication.ts"
import {
  Accounts,
  ApiKeys,
  Authentication,
  CurrentUser,
  EmbeddedStore,
  KernelServer,
  SecurityError,
  SignInAttempts,
  Translations
} from "../../../src/index.ts"
import { ClientAddressSource } from "../../../src/internal/clientAddress.ts"
import { provided } from "../../../src/Security/Authentication.ts"
import { accounts, basic, type Credential, credentials } from "../../support/credentials.ts"
import { atOnce, refused, send, sendBytes, statusesOf } from "../../support/rest.ts"
import { shop } from "../../support/tokens.ts"

/** The entries of the log, of all levels. */
class Entries extends Context.Service<Entries, Array<{ readonly [name: string]: unknown }>>()("test/Entries") {}

const logging = Layer.unwrap(Effect.map(Entries, (entries) =>
  Logger.layer([
    Logger.make(({ fiber, logLevel, message }) => {
      entries.push({ level: logLevel, message, ...fiber.getRef(References.CurrentLogAnnotations) })
    })
  ])))

/** A server that answers who calls, with the headers of the request that begin with `echo-`; 401 to nobody at `/private`. */
const serving = Layer.effectDiscard(Effect.gen(function*() {
  const errorResponses = makeErrorResponses(yield* Translations.Translations)
  const { authenticated, credentialsNeeded } = makeAuthenticator({
    schemes: yield* provided,
    realm: "the \"shop\"",
    errorResponses
  })
  yield* HttpServer.serveEffect(authenticated(Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const current = yield* CurrentUser.option
    if (current._tag === "None" && request.url === "/private") return yield* credentialsNeeded
    const echoed = Object.entries(request.headers).flatMap(([name, value]): ReadonlyArray<[string, string]> =>
      name.startsWith("echo-") && value !== undefined ? [[name.slice(5), value]] : []
    )
    const subject = current._tag === "None" ? "nobody" : current.value.subject
    return HttpServerResponse.setHeaders(HttpServerResponse.jsonUnsafe({ subject }), Object.fromEntries(echoed))
  }))).pipe(Effect.provideService(ClientAddressSource, Effect.succeed("203.0.113.9")))
})).pipe(Layer.provide(logging))

const passwords = Layer.provide(Accounts.layerPasswords({ rounds: 1_000 }), [
  accounts,
  SignInAttempts.layerWith({ perAccount: { limit: 3, window: "1 minute" } })
])
const server = Layer.mergeAll(
  EmbeddedStore.layerMemory,
  KernelServer.layerWith({ address: "127.0.0.1", port: 0 }),
  Layer.sync(Entries, () => [])
)
const all = serving.pipe(
  Layer.provideMerge(Layer.mergeAll(shop("RS256"), ApiKeys.layer, passwords)),
  Layer.provideMerge(server)
)

const challenges = "Bearer realm=\"the \\\"shop\\\"\", Basic realm=\"the \\\"shop\\\"\", charset=\"UTF-8\", "
  + "ApiKey realm=\"the \\\"shop\\\"\", header=\"X-API-Key\""

const invalidToken = challenges.replace("shop\\\"\", Basic", "shop\\\"\", error=\"invalid_token\", Basic")

const challengesFor = ({ headers, proof }: Credential): string =>
  headers["authorization"]?.startsWith("Bearer ") === true && proof !== "nothing" && !("x-api-key" in headers)
    ? invalidToken
    : challenges

/** A connection on which text is sent, and answers are received one by one. */
const opened = Effect.fnUntraced(function*(text: string) {
  const { address } = yield* HttpServer.HttpServer
  const port = "port" in address ? address.port : 0
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => connect(port, "127.0.0.1", () => socket.write(text))),
    (socket) => Effect.sync(() => socket.destroy())
  )
  return {
    write: (more: string) => socket.write(more),
    next: Effect.callback<string>((resume) => {
      socket.once("data", (chunk) => resume(Effect.succeed(chunk.toString())))
    })
  }
})

describe("Authentication of a request", () => {
  it.layer(all)("by all schemes", (it) => {
    it.effect("proves who calls, or is refused with a reason in the log only, for every kind of credentials", () =>
      Effect.gen(function*() {
        const entries = yield* Entries
        for (const credential of yield* credentials) {
          const { headers, name, proof } = credential
          entries.length = 0
          const answer = yield* send("GET", "/private", undefined, headers)
          // The format of an error is negotiated.
          const vary = answer.status < 400 ? "Authorization, X-API-Key" : "Accept, Authorization, X-API-Key"
          assert.strictEqual(answer.headers["vary"], vary, name)
          assert.strictEqual(answer.headers["cache-control"], "private, no-cache", name)
          if (proof !== "nothing" && "subject" in proof) {
            assert.deepStrictEqual(answer.body, { subject: proof.subject }, name)
            assert.notProperty(answer.headers, "www-authenticate", name)
            assert.deepStrictEqual(entries, [], name)
            continue
          }
          assert.strictEqual(refused(401, answer).headers["www-authenticate"], challengesFor(credential), name)
          const isInvalid = proof !== "nothing"
          assert.strictEqual(
            answer.body.message,
            isInvalid ? "The credentials are not valid" : "This needs credentials",
            name
          )
          assert.deepStrictEqual(
            entries.map(({ level, message, reason }) => ({ level, message, reason })),
            isInvalid ? [{ level: "Info", message: ["The credentials are refused"], reason: proof.refused }] : [],
            name
          )
          // Credentials that are wrong are refused where none are needed, too.
          assert.strictEqual((yield* send("GET", "/", undefined, headers)).status, isInvalid ? 401 : 200, name)
        }
      }))

    it.effect("refuses a request without credentials before its body has arrived", () =>
      Effect.gen(function*() {
        for (const body of ["", "{\"name\": "]) {
          const socket = yield* opened("POST /private HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n" + body)
          assert.match(yield* socket.next, /^HTTP\/1\.1 401 /u)
          // The connection goes on after the rest of the body.
          socket.write("{\"name\": \"Ann\"}".slice(body.length) + "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
          assert.match(yield* socket.next, /^HTTP\/1\.1 200 /u)
        }
      }))

    it.effect("gives each of many requests at once its own caller", () =>
      Effect.gen(function*() {
        const known = (yield* credentials).filter(({ proof }) => proof === "nothing" || "subject" in proof)
        const answers = yield* atOnce(40, (i) => send("GET", "/", undefined, known[i % known.length]!.headers))
        assert.deepStrictEqual(
          answers.map(({ body }) => body.subject),
          answers.map((_, i) => {
            const { proof } = known[i % known.length]!
            return proof !== "nothing" && "subject" in proof ? proof.subject : "nobody"
          })
        )
      }))

    it.effect("keeps what a handler says to caches, unless that is weaker", () =>
      Effect.gen(function*() {
        const headersOf = (cacheControl: string, vary: string, more: { readonly [name: string]: string } = {}) =>
          Effect.map(
            send("GET", "/", undefined, { "echo-cache-control": cacheControl, "echo-vary": vary, ...more }),
            ({ headers }) => [headers["cache-control"], headers["vary"]]
          )
        const jane = { authorization: basic("jane:correct:horse") }
        assert.deepStrictEqual(
          [
            yield* headersOf("no-store", "Accept-Language", jane),
            yield* headersOf("max-age=60, Private", "authorization , Origin", jane),
            yield* headersOf("public, max-age=60", "*", jane),
            yield* headersOf("public, max-age=60", "X-Api-Key")
          ],
          [
            ["no-store", "Accept-Language, Authorization, X-API-Key"],
            ["max-age=60, Private", "authorization , Origin, X-API-Key"],
            ["private, no-cache", "*"],
            ["public, max-age=60", "X-Api-Key, Authorization"]
          ]
        )
      }))

    it.effect("refuses a header that is there twice, since a proxy may have read the other one", () =>
      Effect.gen(function*() {
        const jane = `Authorization: ${basic("jane:correct:horse")}\r\n`
        const other = `AUTHORIZATION: ${basic("jürg:correct:horse")}\r\n`
        const request = (headers: string) => `GET / HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n${headers}\r\n`
        assert.match(yield* sendBytes(request(jane)), /^HTTP\/1.1 200 [^]*"subject":"U1"/u)
        assert.match(yield* sendBytes(request(jane + other)), /^HTTP\/1.1 401 /u)
        assert.match(yield* sendBytes(request(jane + jane)), /^HTTP\/1.1 401 /u)
      }))

    it.effect("refuses passwords after too many wrong ones", () =>
      Effect.gen(function*() {
        const attempt = (name: string, password: string) =>
          send("GET", "/", undefined, { authorization: basic(`${name}:${password}`) })
        const wrong = yield* atOnce(10, () => attempt("jürg", "battery staple"))
        assert.deepStrictEqual(statusesOf(wrong), { 401: 3, 429: 7 })
        const late = refused(429, yield* attempt("jürg", "correct:horse"))
        assert.match(String(late.headers["retry-after"]), /^[1-9]\d?$/u)
        assert.strictEqual((yield* attempt("jane", "correct:horse")).status, 200)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* attempt("jürg", "correct:horse")).status, 200)
      }))

    it.effect.prop("takes no other text for credentials", [Schema.String, Schema.Literals(["", "Bearer ", "Basic "])], (
      [text, word]
    ) =>
      Effect.gen(function*() {
        // A header of Node has Latin 1 without control characters.
        const credentials = `${word}${Buffer.from(text).toString("latin1").replaceAll(/[^\x20-\x7e\xa0-\xff]/gu, "")}`
        assert.strictEqual((yield* send("GET", "/", undefined, { authorization: credentials })).status, 401)
        assert.strictEqual((yield* send("GET", "/", undefined, { "x-api-key": credentials })).status, 401)
      }), { arbitrary: { runs: 50 } })
  })

  it.effect("tells the span of the request the caller's subject, and nothing else of the credentials", () => {
    const spans: Array<Tracer.NativeSpan> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
    return Effect.gen(function*() {
      for (const credential of yield* credentials) {
        spans.length = 0
        yield* send("GET", "/", undefined, credential.headers)
        const [span, ...others] = spans.filter(({ kind }) => kind === "server")
        assert.deepStrictEqual(others, [])
        const subject = credential.proof !== "nothing" && "subject" in credential.proof
          ? credential.proof.subject
          : undefined
        assert.strictEqual(span?.attributes.get("enduser.id"), subject, credential.name)
        const [secret = ""] = Object.values(credential.headers).map((value) => value.replace(/^\w+ /u, ""))
        if (secret.length > 8) assert.notInclude(JSON.stringify([...span?.attributes ?? []]), secret, credential.name)
      }
    }).pipe(Effect.provide(Layer.provide(all, Layer.succeed(Tracer.Tracer, tracer))))
  })

  it.effect("refuses credentials of a scheme that the service does not have, alone and beside others", () =>
    Effect.gen(function*() {
      const layer = serving.pipe(Layer.provide(passwords), Layer.provideMerge(server))
      yield* Effect.gen(function*() {
        const entries = yield* Entries
        const jane = { authorization: basic("jane:correct:horse") }
        const key = { "x-api-key": "any" }
        const sent = [jane, key, { ...jane, ...key }, { authorization: "Bearer any" }, { authorization: "any" }]
        const statuses = yield* Effect.forEach(
          sent,
          (headers) => Effect.map(send("GET", "/", undefined, headers), ({ status }) => status)
        )
        assert.deepStrictEqual(statuses, [200, 401, 401, 401, 401])
        assert.deepStrictEqual(entries.map(({ reason }) => reason), ["scheme", "several", "scheme", "malformed"])
      }).pipe(Effect.provide(layer))
    }))

  it.effect("has the schemes of an application, which may replace a ready one", () =>
    Effect.gen(function*() {
      const byHeader = (id: string, header: string, word?: string) =>
        Authentication.make({
          id,
          header,
          word,
          challenge: { scheme: id },
          verify: (credentials) => {
            const text = Redacted.value(credentials)
            return text === "down"
              ? Effect.fail(new SecurityError.CredentialsUnchecked({ detail: "no answer from 10.0.0.1" }))
              : Effect.succeed({ subject: `${id} ${text}`, roles: [], claims: {} })
          }
        })
      const own = Layer.mergeAll(
        Authentication.layer(byHeader("basic", "Authorization", "Basic")),
        Authentication.layer(Effect.succeed(byHeader("Gateway", "X-Gateway-User"))),
        Authentication.layer(byHeader("Signature", "Authorization", "Signature"))
      )
      const layer = serving.pipe(Layer.provide([own, passwords]), Layer.provideMerge(server))
      const answers = yield* Effect.gen(function*() {
        const caller = (headers: { readonly [name: string]: string }) =>
          Effect.map(send("GET", "/", undefined, headers), ({ body }) => body.subject)
        assert.deepStrictEqual(
          [
            yield* caller({ authorization: "Basic x y" }),
            yield* caller({ "x-gateway-user": "jane" }),
            yield* caller({ authorization: "signature x" }),
            yield* caller({})
          ],
          ["basic x y", "Gateway jane", "Signature x", "nobody"]
        )
        const unchecked = yield* send("GET", "/", undefined, { "x-gateway-user": "down" })
        const { message } = refused(503, unchecked).body
        assert.strictEqual(message, "The credentials can't be checked at the moment, try again later")
        assert.notProperty(unchecked.headers, "www-authenticate")
        return yield* send("GET", "/private")
      }).pipe(
        // A user of the process is none of the requests.
        Effect.provide(layer),
        Effect.provideService(CurrentUser, { subject: "process", roles: ["admin"], claims: {} })
      )
      assert.strictEqual(
        refused(401, answers).headers["www-authenticate"],
        ["basic", "Gateway", "Signature"].map((scheme) => `${scheme} realm="the \\"shop\\""`).join(", ")
      )
      assert.strictEqual(answers.headers["vary"], "Accept, Authorization, X-Gateway-User")
    }))
})
