import { assert, describe, it } from "@effect/vitest"
import { createConfig, lintFromString } from "@redocly/openapi-core"
import { Validator as DocumentValidator } from "@seriousme/openapi-schema-validator"
import { Arbitrary, ConfigProvider, Effect, Layer, Logger } from "effect"
import { HttpServer } from "effect/http"
import * as Http from "node:http"
import { engine as shop } from "../../../examples/shop/engine.ts"
import { EmbeddedStore, KernelServer } from "../../../src/index.ts"
import * as Conformance from "../../support/conformance.ts"
import { checksOf } from "../../support/conformanceChecks.ts"
import { engine as everyField } from "../../support/everyField.ts"
import { engine as everyKind } from "../../support/everyKindService.ts"
import type { Json } from "../../support/jsonValues.ts"
import { quickHashes } from "../../support/quickHashes.ts"
import { resolvedDocument } from "../../support/resolvedDocument.ts"
import { bearer } from "../../support/rest.ts"
import { administrator, credentials as shopCredentials, payments, request, signIn } from "../../support/shop.ts"

const runs = Number(process.env["CONFORMANCE_RUNS"] ?? 30)
const seed = process.env["CONFORMANCE_SEED"] ?? 1

/** Validators that are code, of which a schema can't speak. */
const code = new Set(["Past", "Future", "OneLinePerProduct", "Url", "Id"])

/** Operations that take what can't be guessed: the sum of an order, a password, an identifier that is nowhere else, a product with a picture. */
const unreached = new Set([
  "GET /api/v1/products/{id}/picture",
  "POST /api/v1/products/{id}/picture/address",
  "POST /api/v1/payments/pay",
  "POST /api/v1/token",
  "GET /api/v1/payments/{payment_id}",
  "POST /api/v1/users/{id}/change_password",
  // Nothing is delivered for who has no account.
  "GET /api/v1/deliveries/{id}",
  "POST /api/v1/deliveries/{id}/send_again"
])

/** Whether there is a reason not to do what is asked that a schema can't know of. */
const isExcused = ({ method, path }: Conformance.Operation, { status, text }: Conformance.Answer): boolean => {
  if (status < 400 || status === 409) return true
  const { error, errors = [] } = JSON.parse(text)
  return error !== undefined ||
    status === 400 && errors.length > 0 && errors.every(({ field, validator }: Json) =>
        code.has(validator) ||
        // The text of a filter.
        path.endsWith("/query") ||
        // A part of a nested model that is not there yet.
        method === "PATCH" && validator === "Required" && field.includes(".")
      )
}

const documentAt = Effect.fnUntraced(function*(base: string, agent: Http.Agent) {
  const request = { method: "GET", path: "/openapi.json", headers: {}, body: undefined }
  const { text } = yield* Conformance.send(base, agent, request)
  const document: Json = JSON.parse(text)
  return document
})

const surroundings = Effect.gen(function*() {
  const base = HttpServer.formatAddress((yield* HttpServer.HttpServer).address)
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new Http.Agent({ keepAlive: true, maxSockets: 8 })),
    (agent) => Effect.sync(() => agent.destroy())
  )
  return { base, agent, document: yield* documentAt(base, agent) }
})

/** Documents are created first, and removed last. */
const orderOf = ({ method, path }: Conformance.Operation): number =>
  method === "POST" && !path.includes("{") ? 0 : method === "DELETE" && path.endsWith("/{id}") ? 2 : 1

/** Somebody who calls. */
interface Caller<R> {
  readonly name: string
  /** The header that proves who it is; it may put what is the caller's own into the pool. */
  readonly credentials: (
    base: string,
    pool: Conformance.Pool
  ) => Effect.Effect<{ readonly [name: string]: string }, unknown, R>
  /** The operations that they may succeed with; all if `undefined`. */
  readonly mayDo: ReadonlyArray<string> | undefined
}

/** A poll that waits for what does not come would hold up all that is asked after it. */
const shortPolls = ConfigProvider.layerAdd(
  ConfigProvider.fromEnv({ env: { APPKERNEL_LIVE_POLL_TIMEOUT: "20 millis" } })
)

const nobody = { name: "nobody", credentials: () => Effect.succeed({}) }

const suite = <A, E>(
  name: string,
  layer: Layer.Layer<HttpServer.HttpServer | A, E>,
  references: Conformance.References,
  isExcusedHere: (operation: Conformance.Operation, answer: Conformance.Answer) => boolean,
  callers: ReadonlyArray<Caller<A>>,
  /** Only valid requests, so many of each operation on documents. Defaults to any requests of all operations. */
  valid?: number
) =>
  it.layer(Layer.provide(layer, [Logger.layer([]), shortPolls]), { excludeTestServices: true })(name, (it) => {
    // What one caller creates is there for the next one.
    const pool: Conformance.Pool = new Map()
    // All callers get the same document.
    let described: { readonly served: Json; readonly document: Json; readonly checks: Conformance.Checks } | undefined
    const describedBy = (served: Json) => {
      if (described !== undefined) {
        assert.deepStrictEqual(served, described.served)
        return described
      }
      const document = resolvedDocument(served)
      return described = { served, document, checks: checksOf(document) }
    }
    it.effect.each(callers)("responds as its document describes, to any request of $name", (caller) =>
      Effect.gen(function*() {
        const { agent, base, document: served } = yield* surroundings
        const { checks, document } = describedBy(served)
        const credentials = yield* caller.credentials(base, pool)
        const isLimited = caller.mayDo !== undefined
        const statuses = new Map<string, number>()
        const operations = Conformance.operationsOf(document)
          .filter(({ path }) =>
            valid === undefined || !/\/(?:aggregate|schema|meta)$/u.test(path)
          )
          .toSorted((a, b) => orderOf(a) - orderOf(b))

        const check = (operation: Conformance.Operation) => (plan: Conformance.Plan) =>
          Effect.gen(function*() {
            const asked = valid === undefined ? plan : { ...plan, twist: "none" as const }
            const { isInvalidBody, isValid, request } = Conformance.prepare(operation, asked, {
              checks,
              pool,
              references
            })
            const answer = yield* Conformance.send(base, agent, {
              ...request,
              headers: { ...credentials, ...request.headers }
            })
            const { status, text } = answer
            learn(pool, operation, request.path, answer)
            statuses.set(`${operation.name} ${status}`, (statuses.get(`${operation.name} ${status}`) ?? 0) + 1)
            const isRefused = isValid && !isExcused(operation, answer) && !isExcusedHere(operation, answer) &&
              !(isLimited && [401, 403, 404].includes(status))
            const differences = [
              ...checks.differences(operation, answer),
              ...(isRefused ? [`what is valid is answered ${status}`] : []),
              // It is documented, and yet nobody is to see it.
              ...(status === 500 ? ["it is a defect"] : []),
              ...(isInvalidBody && status < 400 ? [`what is not valid is answered ${status}`] : [])
            ]
            return differences.length === 0
              ? true
              : yield* Effect.fail({ request, answer: text.slice(0, 600), differences })
          })

        const problems: Array<string> = []
        for (const operation of operations) {
          const plans = Conformance.plansOf(operation, document)
          const result = yield* Arbitrary.checkEffect(plans, check(operation), {
            runs: valid ?? (isLimited ? Math.ceil(runs / 2) : runs),
            seed,
            maxShrinks: 200,
            size: 8
          })
          if (result._tag === "Passed") continue
          const failure = result._tag === "Falsified" && result.failure._tag === "PropertyError"
            ? result.failure.error
            : result._tag
          problems.push(`${operation.name}: ${JSON.stringify(failure)}`)
        }
        assert.deepStrictEqual(problems, [])
        for (const { method, name, operation } of operations) {
          // The property says nothing of what never succeeds.
          const successes = Object.keys(operation.responses).filter((status) => status.startsWith("2"))
          const isReached = successes.some((status) => statuses.has(`${name} ${status}`))
          if (caller.mayDo === undefined) {
            assert.isTrue(isReached || unreached.has(name), `${method} ${name} has no success`)
            // Who may list may ask by a body.
          } else if (isReached) assert.include(caller.mayDo, name.replace(/^POST (.*)\/query$/u, "GET $1"))
          else if (!byChance.has(name)) {
            assert.isFalse(method === "GET" && caller.mayDo.includes(name), `${caller.name}: ${name} has no success`)
          }
        }
      }), 1_200_000)

    if (valid !== undefined) {
      return
    }

    it.effect("has a document that is valid, and that a linter has no errors in", () =>
      Effect.gen(function*() {
        const { document } = yield* surroundings
        const validator = new DocumentValidator()
        const { errors, valid } = yield* Effect.promise(() =>
          validator.validate(structuredClone(document))
        )
        assert.deepStrictEqual([valid, errors, validator.version], [true, undefined, "3.1"])
        const problems = yield* Effect.promise(async () =>
          lintFromString({
            source: JSON.stringify(document),
            absoluteRef: "/openapi.json",
            config: await createConfig({ extends: ["recommended"] })
          })
        )
        const found = problems.filter(({ severity }) => severity === "error")
        assert.deepStrictEqual(found.map(({ message, ruleId }) => `${ruleId}: ${message}`), [])
      }))

    it.effect("allows the methods that the document has, and no others", () =>
      Effect.gen(function*() {
        const { agent, base, document } = yield* surroundings
        for (const [path, item] of Object.entries<Json>(document.paths)) {
          const methods = Object.keys(item).map((method) => method.toUpperCase())
          // OpenAPI 3.1 has no `QUERY`.
          const isFile = item.get?.responses["206"] !== undefined
          const reading = methods.includes("GET") ? ["HEAD", ...isFile ? [] : ["QUERY"]] : []
          const documented = [...methods, ...reading, "OPTIONS"]
          const { headers, status, text } = yield* Conformance.send(base, agent, {
            method: "OPTIONS",
            path: path.replaceAll(/\{\w+\}/gu, "x"),
            headers: {},
            body: undefined
          })
          assert.deepStrictEqual([status, text], [204, ""], path)
          assert.sameMembers(String(headers.allow).split(", "), documented, path)
          const patched = item.patch?.requestBody?.content
          assert.strictEqual(headers["accept-patch"], patched && Object.keys(patched).join(", "), path)
        }
      }))
  })

/** What is created, and what is gone. */
const learn = (
  pool: Conformance.Pool,
  { method, path }: Conformance.Operation,
  sent: string,
  answer: Conformance.Answer
): void => {
  if (method === "DELETE" && path.endsWith("/{id}") && /^(?:2|404|423)/u.test(String(answer.status))) {
    const collection = path.slice(0, -"/{id}".length)
    const [segment] = sent.slice(collection.length + 1).split("?", 1)
    pool.set(collection, (pool.get(collection) ?? []).filter((known) => encodeURIComponent(known) !== segment))
  }
  if (path.includes("{") || answer.status >= 300) return
  // The list has what nobody creates by a request of its own.
  if (method === "GET" && !pool.has(path)) {
    const { _items: items = [] } = answer.text.startsWith("{\"_type\":\"list\"") ? JSON.parse(answer.text) : {}
    const ids = items.map(({ id }: Json) => id).filter((id: unknown) => typeof id === "string")
    if (ids.length > 0) pool.set(path, ids)
  }
  if (method !== "POST") return
  const { id, result } = JSON.parse(answer.text)
  const ids = [result ?? id].flat().filter((id: unknown) => typeof id === "string" && id.isWellFormed())
  pool.set(path, [...new Set([...pool.get(path) ?? [], ...ids])])
}

/** What nobody needs credentials for. */
const openToAll = [
  "POST /api/v1/users",
  "POST /api/v1/token/revoke",
  "GET /api/v1/payments/methods",
  ...["", "/{id}", "/{id}/get_summary", "/{id}/picture", "/aggregate", "/changes", "/schema", "/meta"].map((path) =>
    `GET /api/v1/products${path}`
  ),
  "POST /api/v1/products/{id}/picture/address",
  "GET /api/v1/changes"
]

/** There may be an order that the user has made with what was drawn, or a product with a picture. */
const byChance = new Set([
  "GET /api/v1/products/{id}/picture",
  "GET /api/v1/orders/{id}",
  "GET /api/v1/orders/{id}/revisions",
  "GET /api/v1/orders/{id}/revisions/{revision}",
  "POST /api/v1/payments/pay",
  "GET /api/v1/payments/{payment_id}",
  // The shop sends nothing while it is asked.
  "GET /api/v1/deliveries/{id}"
])

/** What users may do with what is theirs. */
const ofOneself = [
  ...byChance,
  ...["GET", "PUT", "PATCH", "DELETE"].map((method) => `${method} /api/v1/users/{id}`),
  ...["", "/aggregate", "/schema", "/meta"].flatMap((path) =>
    ["users", "orders", "subscriptions", "deliveries"].map((segment) => `GET /api/v1/${segment}${path}`)
  ),
  "GET /api/v1/orders/changes",
  "POST /api/v1/orders",
  "POST /api/v1/subscriptions",
  ...["GET", "PATCH", "DELETE"].map((method) => `${method} /api/v1/subscriptions/{id}`),
  "POST /api/v1/subscriptions/{id}/rotate",
  "GET /api/v1/token/sessions",
  "DELETE /api/v1/token/sessions/{id}",
  "GET /api/v2/users",
  "GET /api/v2/users/{user_id}"
]

const signedUp = Effect.fnUntraced(function*(base: string, pool: Conformance.Pool) {
  const password = "correct horse battery"
  const user = { name: "Ann", email: "ann@example.com", password }
  const { body, status, text } = yield* request(base, "POST /api/v1/users", user)
  assert.strictEqual(status, 201, text)
  for (const path of ["/api/v1/users", "/api/v2/users"]) pool.set(path, [body.result])
  return bearer((yield* signIn(base, user.email, password)).access_token)
})

const serverLayer = KernelServer.layerWith({ address: "127.0.0.1", port: 0 })

describe("OpenApi, held against the server", () => {
  suite(
    "a service with fields of every kind",
    everyField.layerServe.pipe(Layer.provideMerge(serverLayer), Layer.provide(EmbeddedStore.layerMemory)),
    {},
    // A hook looks for what is not there.
    ({ name }, { status }) => name === "POST /branches" && status === 404,
    [{ ...nobody, mayDo: undefined }]
  )

  suite(
    "a service with every kind of values",
    everyKind.layerServe.pipe(Layer.provideMerge(serverLayer), Layer.provide(EmbeddedStore.layerMemory)),
    {},
    // The pattern of a template has no checks of its parts, and a part of a form is JSON where any JSON may be.
    ({ path }, { status, text }) =>
      path.startsWith("/template") && status === 400 || text.includes("is not valid JSON"),
    [{ ...nobody, mayDo: undefined }],
    Math.ceil(runs / 10)
  )

  suite(
    "the shop",
    shop.layerServe.pipe(
      Layer.provide(payments),
      Layer.provideMerge(shopCredentials),
      Layer.provideMerge(serverLayer),
      Layer.provide([EmbeddedStore.layerMemory, quickHashes])
    ),
    { product: "/api/v1/products", order: "/api/v1/orders" },
    // What is ordered and paid has to be there, and so has a picture.
    ({ path }, { status }) => status === 404 && /payments|api\/v2|\/picture/u.test(path),
    [
      { name: "an administrator", credentials: () => administrator, mayDo: undefined },
      { name: "somebody signed up", credentials: signedUp, mayDo: [...openToAll, ...ofOneself] },
      { ...nobody, mayDo: openToAll }
    ]
  )
})
