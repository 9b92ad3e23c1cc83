/** Two documents that differ only in what a view hides are the same to its caller: in each answer, and to each condition. */
import { assert, it } from "@effect/vitest"
import { Arbitrary, Effect, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { type DocumentStore, Jwt, KernelEngine, Model, Resource, Role } from "../../../src/index.ts"
import { sendTo, signedAs } from "../../support/rest.ts"
import { shop } from "../../support/tokens.ts"

class Inner extends Model.Class<Inner>()("Inner", {
  city: Schema.String,
  cost: Schema.Int.pipe(Model.withDefault(() => 0))
}) {}

class Doc extends Model.Class<Doc>()("Doc", {
  id: Model.id(),
  title: Schema.String,
  state: Schema.String,
  inner: Inner,
  lines: Schema.Array(Inner),
  ...Model.versioned,
  ...Model.audited
}, { logged: true }) {}

const names = [
  "title",
  "state",
  "inner",
  "inner.cost",
  "lines",
  "lines.cost",
  "version",
  "inserted",
  "updated",
  "created_by",
  "updated_by"
] as const

type Name = (typeof names)[number]

/** What is in the store: two values of each field. */
const values: { readonly [_ in Name]: readonly [unknown, unknown] } = {
  title: ["a", "b"],
  state: ["new", "sent"],
  inner: [{ city: "Bern", cost: 1 }, { city: "Basel", cost: 1 }],
  "inner.cost": [1, 2],
  lines: [[{ city: "Bern", cost: 1 }], []],
  "lines.cost": [1, 2],
  version: [3, 7],
  inserted: [new Date(1_000_000_000_000), new Date(1_100_000_000_000)],
  updated: [new Date(1_200_000_000_000), new Date(1_300_000_000_000)],
  created_by: ["ann", "bob"],
  updated_by: ["ann", "bob"]
}

const stored = (differing: ReadonlySet<Name>): DocumentStore.Document => {
  const valueOf = (name: Name) => values[name][differing.has(name) ? 1 : 0]
  const own = Object.fromEntries(
    names.filter((name) => !name.includes(".")).map((name) => [name, structuredClone(valueOf(name))])
  )
  Object.assign(Object(own["inner"]), { cost: valueOf("inner.cost") })
  for (const line of Object(own["lines"])) line.cost = valueOf("lines.cost")
  return { _id: "D", ...own }
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

/** Links of the clerk depend on what the clerk does not see, only where it is seen. */
const serviceFor = (hide: ReadonlyArray<Name>) =>
  KernelEngine.make("shop")
    .register(
      Resource.make(Doc, { methods })
        .action("copy", { success: Doc }, (doc) => Effect.succeed(doc))
        .grant(Role("clerk"), hide.length === 0 ? {} : { hide: [...hide] })
        .require(Role("admin")),
      { pageTags: true, tables: true }
    )
    .enableSecurity()

type Headers = { readonly [name: string]: string }

type Call = readonly [method: string, path: string, body?: unknown, headers?: Headers]

/** What depends on the process. */
const neutral = (text: string) => text.replaceAll(/"txid":"[^"]*"/gu, "").replaceAll(/\b\d+\.[0-9a-f]{8,}\b/gu, "")

const told = ([method, path, ...others]: Call, answer: Response, text: string) => ({
  call: [method, path.replace(/offset=\w.*/u, "offset"), ...others],
  status: answer.status,
  text: neutral(text),
  headers: [...answer.headers].filter(([name]) => !/^(?:date|stream-|x-request-id|keep-alive|connection)/u.test(name))
    .filter(
      ([name]) => !(name === "etag" && path.startsWith("/changes"))
    )
})

/** All that a clerk is told of a document. */
const answers = Effect.fnUntraced(
  function*(hide: ReadonlyArray<Name>, document: DocumentStore.Document, conditions: Headers) {
    const { baseUrl, store } = yield* serviceFor(hide).test()
    yield* store.insertMany("Doc", [document])
    const { sign } = yield* Jwt.Jwt
    const authorization = `Bearer ${Redacted.value(yield* sign({ subject: "me", roles: ["clerk"] }))}`
    const all: Array<ReturnType<typeof told>> = []
    const call = (...one: Call) =>
      Effect.promise(async () => {
        const [method, path, body, headers = {}] = one
        const answer = await fetch(`${baseUrl}/docs${path}`, {
          method,
          cache: "no-store",
          headers: {
            authorization,
            ...body === undefined
              ? {}
              : { "content-type": Array.isArray(body) ? "application/json-patch+json" : "application/json" },
            ...headers
          },
          ...body === undefined ? {} : { body: JSON.stringify(body) }
        })
        all.push(told(one, answer, await answer.text()))
        return answer
      })
    const etag = (yield* call("GET", "/D")).headers.get("etag") ?? ""
    const known: ReadonlyArray<Headers> = [
      { "if-none-match": etag },
      { "if-match": etag },
      { "if-match": "\"3\"" },
      { "if-none-match": "\"3\"" },
      ...Object.entries(conditions).map(([name, value]) => ({ [name]: value })),
      ...[1_200_000_000_000, 1_250_000_000_000].map((time) => ({ "if-modified-since": new Date(time).toUTCString() }))
    ]
    for (const method of ["GET", "HEAD"]) {
      for (const headers of [{}, ...known]) yield* call(method, "/D", undefined, headers)
      for (const path of ["", "?fields=id", "/D?fields=id", "/aggregate?pipe=[]", "/D/copy", "/schema", "/meta"]) {
        yield* call(method, path)
      }
    }
    for (const accept of ["text/csv", "application/x-ndjson"]) yield* call("GET", "", undefined, { accept })
    const { headers: tags } = yield* call("GET", "")
    yield* call("GET", "", undefined, { "if-none-match": tags.get("etag") ?? "" })
    const begun = yield* call("GET", "/changes?offset=-1")
    for (const name of names) yield* call("GET", `?${name}=3&sort_by=${name}`)
    for (const version of [3, 7]) {
      yield* call("PATCH", "/D", { version })
      yield* call("PATCH", "/D", [{ op: "test", path: "/version", value: version }])
    }
    for (const headers of known.filter((one) => !("if-modified-since" in one))) {
      yield* call("PATCH", "/D", {}, headers)
      yield* call("PATCH", "/D", { title: "c" }, { ...headers, prefer: "return=representation" })
      yield* call("PUT", "/D", { title: "d", state: "x", inner: { city: "x" }, lines: [] }, headers)
      yield* call("POST", "", { id: "D", title: "e", state: "x", inner: { city: "x" }, lines: [] }, headers)
      yield* call("GET", "/D")
    }
    yield* call("GET", `/changes?offset=${begun.headers.get("stream-next-offset")}`)
    yield* call("DELETE", "/D", undefined, { "if-match": etag })
    const last = (yield* call("GET", "/D")).headers.get("etag") ?? ""
    yield* call("DELETE", "/D", undefined, { "if-match": last })
    yield* call("DELETE", "/D")
    return { all, etag }
  }
)

it.effect("a view tells nothing of what it hides, in any answer or by any condition", () =>
  Effect.gen(function*() {
    yield* TestClock.setTime(1_800_000_000_000)
    const checked = yield* Arbitrary.checkEffect(
      Arbitrary.schema(Schema.Struct({
        hide: Schema.UniqueArray(Schema.Literals(names)),
        differs: Schema.Array(Schema.Boolean)
      })),
      Effect.fnUntraced(function*({ differs, hide }) {
        const differing = new Set(hide.filter((_, i) => differs[i] !== false))
        const { all: one, etag } = yield* answers(hide, stored(new Set()), {})
        const { all: same } = yield* answers(hide, stored(new Set()), { "if-match": etag, "if-none-match": etag })
        const { all: other } = yield* answers(hide, stored(differing), { "if-match": etag, "if-none-match": etag })
        assert.isAbove(one.length, 50)
        assert.deepStrictEqual(other, same, hide.join())
        return true
      }, Effect.scoped),
      { runs: 4 }
    )
    assert.strictEqual(checked._tag, "Passed")
  }).pipe(Effect.provide(shop("EdDSA"))))

it.effect("the name of a hidden field in a question has the answer of a name that no field has", () =>
  Effect.gen(function*() {
    const { baseUrl } = yield* serviceFor(["title", "inner.cost", "version"]).test()
    const token = yield* signedAs("me", "clerk")
    const answer = (path: string, name: string) =>
      Effect.map(
        sendTo(baseUrl, "GET", encodeURI(path.replaceAll("NAME", name)), undefined, token),
        ({ status, text }) => [status, text.replaceAll(name, "NAME")]
      )
    for (
      const path of [
        ..."?NAME=1 ?NAME=>1 ?NAME.x=1 ?sort_by=NAME ?fields=NAME /D?fields=NAME /changes?NAME=1 /changes?fields=NAME"
          .split(" "),
        "?query={\"NAME\":1}",
        "/aggregate?pipe=[{\"$group\":{\"_id\":\"$NAME\"}}]"
      ].map((own) => `/docs${own}`).concat("/changes?watch=docs&NAME=1", "/changes?watch=docs&docs.NAME=1")
    ) {
      for (
        const [hidden, unknown] of [["title", "other"], ["inner.cost", "inner.other"], ["version", "other"]] as const
      ) {
        assert.deepStrictEqual(yield* answer(path, hidden), yield* answer(path, unknown), `${path} ${hidden}`)
      }
    }
  }).pipe(Effect.provide(shop("ES256"))))
