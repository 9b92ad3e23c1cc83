/** Writes of many documents by callers with grants, and how they are described. */
import { assert, it } from "@effect/vitest"
import { Arbitrary, Effect, Redacted, Schema } from "effect"
import { KernelEngine, Model, type Query, Resource, Role } from "../../../src/index.ts"
import { sendTo } from "../../support/rest.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"
import { shop } from "../../support/tokens.ts"
import { manyWritesContract } from "./handlers.contract.ts"

storeMatrix(manyWritesContract)

class Inner extends Model.Class<Inner>()("Inner", { cost: Schema.Int, place: Schema.String }) {}

class Doc extends Model.Class<Doc>()("Doc", {
  id: Schema.String,
  title: Schema.Literals(["a", "b", "c"]),
  state: Schema.Literals(["new", "sent"]),
  size: Schema.Int.pipe(Model.optional),
  inner: Inner.pipe(Model.optional),
  ...Model.versioned
}) {}

const rows = Schema.Literals(["all", "new", "sent", "none"])

const fields = Schema.UniqueArray(Schema.Literals(["title", "state", "size", "inner", "inner.cost"])).check(
  Schema.isMaxLength(2)
)

const grant = Schema.Struct({
  method: Schema.Literals(["GET", "PATCH", "DELETE", "PUT", "any"]),
  rows,
  check: rows,
  hide: fields,
  readOnly: fields
})

type Grant = typeof grant.Type

const where = (rows: typeof Doc.Type["state"] | "all" | "none") => () => ($: Query.Fields<typeof Doc>) =>
  rows === "none" ? $.id.equals("none") : rows === "all" ? $.id.notEquals("none") : $.state.equals(rows)

const optionsOf = (grant: Grant | undefined) => {
  const { check, hide, method, readOnly, rows } = grant ??
    { method: "any", rows: "none", check: "none", hide: [], readOnly: [] } as const
  return {
    methods: method === "any" ? undefined : method,
    rows: rows === "all" ? undefined : where(rows),
    check: where(check),
    hide: [...hide],
    readOnly: [...readOnly]
  }
}

const granted = ([first, second, third]: ReadonlyArray<Grant>) =>
  KernelEngine.make("granted")
    .register(
      Resource.make(Doc, { methods: ["GET", "PUT", "PATCH", "DELETE"] })
        .require(Role("admin"))
        .grant(Role("r0"), optionsOf(first))
        .grant(Role("r1"), optionsOf(second))
        .grant(Role("r2"), optionsOf(third)),
      { many: ["PUT", "PATCH", "DELETE"] }
    )
    .enableSecurity()

const document = Schema.Struct({
  title: Schema.Literals(["a", "b"]),
  state: Schema.Literals(["new", "sent"]),
  size: Schema.optionalKey(Schema.Literals([1, 2])),
  inner: Schema.optionalKey(Schema.Struct({ cost: Schema.Literals([0, 3]), place: Schema.Literals(["p", ""]) }))
})

const change = Schema.Literals([
  { title: "b" },
  { state: "sent" },
  { state: "new", size: 2 },
  { size: null },
  { title: "x" },
  { inner: { cost: 3, place: "p" } },
  { version: 1, title: "c" },
  {}
].map((json) => JSON.stringify(json)))

const asked = Schema.Struct({
  grants: Schema.Array(grant).check(Schema.isMinLength(1), Schema.isMaxLength(3)),
  documents: Schema.Array(document).check(Schema.isMinLength(1), Schema.isMaxLength(6)),
  filter: Schema.Literals([
    "all=true",
    "title=a",
    "state=new",
    "size=2",
    "inner.cost=3",
    "query={\"size\":{\"$gt\":0}}",
    "logic=OR&title=b&state=sent"
  ]),
  change,
  method: Schema.Literals(["PATCH", "DELETE", "list", "PUT"])
})

const runs = Number(process.env["DIFFERENTIAL_RUNS"] ?? 15)

// The tests look into bodies of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

interface Told {
  readonly status: number
  readonly body: Json
}

/** A service with the documents, as the caller asks it. */
const asking = Effect.fnUntraced(
  function*(service: ReturnType<typeof granted>, { documents, grants }: typeof asked.Type) {
    const { baseUrl, store, token } = yield* service.test()
    yield* store.insertMany("Doc", documents.map((document, i) => ({ _id: `D${i}`, version: 1, ...document })))
    const authorization = `Bearer ${
      Redacted.value(
        yield* token({
          subject: "me",
          roles: grants.map((_, i) => `r${i}`)
        })
      )
    }`
    const send = (method: string, path: string, body?: unknown, prefer = "") =>
      Effect.map(
        sendTo(baseUrl, method, encodeURI(path), body, { authorization, prefer }),
        ({ body, status }): Told => ({ status, body })
      )
    const stored = Effect.map(store.find("Doc", { filter: {}, sort: { _id: 1 } }), (all) => JSON.stringify(all))
    return { send, stored }
  }
)

const pathOf = (id: string) => `/docs/${id}`

const isWritten = ({ status }: Told) => status < 400

it.effect(
  "a write of many documents does what its caller's writes of each of them do, all or as far as these succeed",
  () =>
    Effect.gen(function*() {
      const checked = yield* Arbitrary.checkEffect(
        Arbitrary.schema(asked),
        Effect.fnUntraced(function*(asked) {
          const { change, documents, filter, method: kind } = asked
          const service = granted(asked.grants)
          const [one, each, all] = [
            yield* asking(service, asked),
            yield* asking(service, asked),
            yield* asking(service, asked)
          ]
          const method = kind === "list" ? "PATCH" : kind
          const before = yield* one.stored
          const bodyOf = (i: number) =>
            kind === "DELETE"
              ? undefined
              : kind === "PUT"
              ? { ...documents[i], ...JSON.parse(change) }
              : JSON.parse(change)
          const isList = kind === "PUT" || kind === "list"
          const path = isList ? "/docs" : `/docs?${filter}`
          const ids = [...documents.keys(), 99].map((i) => ({ id: `D${i}`, body: bodyOf(i === 99 ? 0 : i) }))
          const body = isList ? ids.map(({ body, id }) => ({ id, ...body })) : bodyOf(0)

          const listed = yield* one.send("GET", filter === "all=true" ? "/docs" : `/docs?${filter}`)
          const isAdmitted =
            (yield* one.send(method, pathOf("none"), method === "DELETE" ? undefined : {})).status !== 403
          const answers = [
            yield* each.send(method, path, body, "handling=lenient"),
            yield* all.send(method, path, body)
          ] as const
          const found = new Set<unknown>((listed.body._items ?? []).map(({ id }: Json) => id))
          const isRefused = !isAdmitted && !isList || listed.status !== 200 && !isList
          if (isRefused) {
            for (const { status } of answers) assert.strictEqual(status, isAdmitted ? listed.status : 403)
          } else {
            const singles: Array<Told & { readonly id: string }> = []
            for (const { body, id } of ids.filter(({ id }) => isList || found.has(id))) {
              const single = yield* one.send(method, pathOf(id), isList ? { id, ...body } : body)
              // A filter leaves out what the caller may not write at all. One by one, a field that nobody may write is refused before that.
              const isLeftOut = !isList &&
                (single.status === 403 ? yield* one.send(method, pathOf(id), {}) : single).status === 404
              if (!isLeftOut) singles.push({ id, ...single })
            }
            const [own, whole] = answers
            if (!isAdmitted) assert.deepStrictEqual([own.status, whole.status], [403, 403])
            else {
              assert.strictEqual(own.status, 207, JSON.stringify(own.body))
              assert.deepStrictEqual(
                own.body.results.map(({ error, id, status }: Json) => ({ id, status, error })),
                singles.map((single) => ({
                  id: single.id,
                  status: single.status,
                  error: isWritten(single) ? undefined : single.body
                }))
              )
              assert.deepStrictEqual(own.body.ids, singles.filter(isWritten).map(({ id }) => id))
              const refused = singles.find((single) => !isWritten(single))
              if (refused === undefined) assert.deepStrictEqual([whole.status, whole.body.ids], [200, own.body.ids])
              else {
                assert.deepStrictEqual(
                  [whole.status, whole.body],
                  [refused.status, {
                    ...refused.body,
                    message: `${refused.id}: ${refused.body.message}`,
                    document: refused.id
                  }]
                )
              }
              assert.strictEqual(yield* all.stored, refused === undefined ? yield* one.stored : before)
            }
          }
          assert.strictEqual(yield* each.stored, yield* one.stored)
          return true
        }, Effect.scoped),
        { runs }
      )
      assert.strictEqual(checked._tag, "Passed", JSON.stringify(checked))
    }).pipe(Effect.provide(shop("EdDSA"))),
  600_000
)
