/** Heads, URLs and bodies of strangers that are as long as they may be: none holds the process. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { EmbeddedStore, KernelEngine, Model, Resource, Service } from "../../../src/index.ts"
import { send, serving } from "../../support/rest.ts"
import { slowness, threadTime } from "../../support/turns.ts"

class Member extends Model.Class<Member>()("Member", {
  id: Model.id(),
  email: Schema.String,
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => [])),
  labels: Schema.Record(Schema.String, Schema.String).pipe(Model.optional),
  at: Model.DateTime.pipe(Model.optional),
  age: Schema.Finite.pipe(Model.optional),
  big: Schema.BigInt.pipe(Model.optional),
  sum: Schema.BigDecimal.pipe(Model.optional)
}) {}

const Look = Service.make("LookService").operation("look", {
  path: "/look",
  query: {
    name: Schema.optionalKey(Schema.String),
    sum: Schema.optionalKey(Schema.BigDecimal),
    link: Schema.optionalKey(Schema.URL),
    zone: Schema.optionalKey(Schema.TimeZone),
    zoned: Schema.optionalKey(Schema.DateTimeZoned),
    version: Schema.optionalKey(Schema.SemVer),
    at: Schema.optionalKey(Model.DateTime)
  },
  success: Schema.Int
}, () => Effect.succeed(1)).operation("join", {
  path: "/join",
  form: true,
  payload: { sum: Schema.optionalKey(Schema.BigDecimal), big: Schema.optionalKey(Schema.BigInt) },
  success: Schema.Int
}, () => Effect.succeed(1))

const engine = KernelEngine.make("inputs")
  .register(Resource.make(Member, { methods: ["GET", "POST", "PATCH"] }))
  .register(Look)

type Sent = ReturnType<typeof send>

/** A text of about so many characters. */
const repeated = (unit: string, length: number) => unit.repeat(Math.floor(length / unit.length))

const headOf = (name: string, of: (n: number) => string, path = "/members", method: "GET" | "PATCH" = "GET") =>
  [
    `${name}: ${of(12)}`,
    (n: number): Sent => send(method, path, method === "GET" ? undefined : "{}", { [name]: of(n) })
  ] as const

const urlOf = (of: (n: number) => string, path = "/members?") =>
  [`${path}${of(20)}`, (n: number): Sent => send("GET", encodeURI(path + of(n)))] as const

const item = "/members/there"

/** What is in a head of 16 KiB. */
const heads: ReadonlyArray<readonly [name: string, of: (n: number) => Sent]> = [
  headOf("authorization", (n) => `Basic ${repeated("Og==", n)}`),
  headOf("authorization", (n) => `Bearer ${repeated("a.", n)}`),
  headOf("authorization", (n) => `Bearer${repeated(" ", n)}x`),
  headOf("x-api-key", (n) => repeated("a", n)),
  headOf("cookie", (n) => repeated("a=b; ", n)),
  headOf("forwarded", (n) => repeated("for=\"\\\\", n)),
  headOf("x-forwarded-for", (n) => repeated("1.1.1.1,", n)),
  headOf("accept", (n) => repeated("a/b;q=0.1,", n)),
  headOf("accept", (n) => `a/b;x="${repeated("\\\"", n)}`),
  headOf("accept-language", (n) => repeated("en;q=0.5,", n)),
  headOf("accept-encoding", (n) => repeated("a;q=0,", n)),
  headOf("if-match", (n) => repeated("\"a\",", n), item, "PATCH"),
  headOf("if-match", (n) => `"a"${repeated(" ", n)}x`, item, "PATCH"),
  headOf("if-none-match", (n) => repeated("\"a\" ", n)),
  headOf("if-unmodified-since", (n) => repeated("Mon, ", n), item, "PATCH"),
  headOf("prefer", (n) => `a="${repeated("\\\"", n)}`, item, "PATCH"),
  headOf("prefer", (n) => repeated("return=minimal,", n), item, "PATCH"),
  headOf("range", (n) => `bytes=${repeated("0-1,", n)}`),
  headOf("content-type", (n) => `multipart/form-data;${repeated("a=b;", n)}`, item, "PATCH"),
  headOf("content-type", (n) => `application/json${repeated(" ", n)}x`, item, "PATCH"),
  headOf("traceparent", (n) => repeated("0-", n)),
  headOf("x-request-id", (n) => repeated("a", n)),
  headOf("last-event-id", (n) => repeated("1", n), "/members?live=sse"),
  urlOf((n) => `age=[${repeated("1,", n)}1]`),
  urlOf((n) => `email=[${repeated("\"\",", n)}]`),
  urlOf((n) => `email=[${repeated("+\",", n)}]`),
  urlOf((n) => `email=~${repeated("+", n)}`),
  urlOf((n) => `email=~${repeated("%2B", n)}`),
  urlOf((n) => `sum=${repeated("1", n)}`),
  urlOf((n) => `sum=${repeated("+", n)}1`),
  urlOf(() => "sum=1e999999999"),
  urlOf((n) => `big=${repeated("1", n)}`),
  urlOf((n) => `at=2020-01-01T00:00:00.${repeated("1", n)}`),
  urlOf((n) => `labels.${repeated("a.", n)}=1`),
  urlOf((n) => repeated(":[", n)),
  urlOf((n) => `sort_by=${repeated("age,", n)}`),
  urlOf((n) => `fields=${repeated("x,", n)}`),
  urlOf((n) => `cursor=${repeated("a.", n)}`),
  urlOf((n) => `query=${repeated("[", n)}`),
  urlOf((n) => `query={"email":{"$regex":"[${repeated(")", n)}]|"}}`),
  urlOf((n) => `query={"email":{"$regex":"${repeated("\\\\pL", n)}","$options":"i"}}`),
  urlOf((n) => `query={"sum":{"$numberDecimal":"${repeated("1", n)}"}}`),
  urlOf((n) => `query={"age":{"$in":[${repeated("1,", n)}1]}}`),
  urlOf((n) => `pipe=[${repeated("{\"$skip\":0},", n)}{"$skip":0}]`, "/members/aggregate?"),
  urlOf((n) => `sum=${repeated("1", n)}`, "/look?"),
  urlOf((n) => `link=http://a${repeated("/..", n)}`, "/look?"),
  urlOf((n) => `zone=${repeated("a/", n)}`, "/look?"),
  urlOf((n) => `zoned=2020-01-01T00:00:00Z[${repeated("a", n)}`, "/look?"),
  urlOf((n) => `version=1.1.1-${repeated("1.", n)}`, "/look?"),
  urlOf((n) => `at=${repeated("+", n)}`, "/look?"),
  urlOf((n) => repeated("/..", n), "/members"),
  urlOf((n) => repeated("1", n), "/members/"),
  urlOf((n) => repeated("%41", n), "/members/")
]

const multipart = { "content-type": "multipart/form-data; boundary=XX" }
const form = { "content-type": "application/x-www-form-urlencoded" }
const patch = { "content-type": "application/json-patch+json" }

const partOf = (name: string, value: string, header = "") =>
  `--XX\r\nContent-Disposition: form-data; name="${name}"\r\n${header}\r\n${value}\r\n--XX--`

/** What is in a body of a megabyte. */
const bodies: ReadonlyArray<readonly [name: string, of: (n: number) => Sent]> = [
  ["a form's decimal", (n) => send("POST", "/join", `sum=${repeated("1", n)}`, form)],
  ["a form's integer", (n) => send("POST", "/join", `big=${repeated("1", n)}`, form)],
  ["a form's brackets", (n) => send("POST", "/join", `sum${repeated("[a]", n)}=1`, form)],
  ["a form's plus signs", (n) => send("POST", "/join", `sum=${repeated("+", n)}`, form)],
  ["boundaries that are none", (n) => send("POST", "/members", partOf("email", repeated("\r\n--X", n)), multipart)],
  ["headers of a part", (n) => send("POST", "/members", partOf("email", "a", repeated("a: b\r\n", n)), multipart)],
  ["a part's decimal", (n) => send("POST", "/members", partOf("sum", repeated("1", n)), multipart)],
  ["a part's name", (n) => send("POST", "/members", partOf(repeated("a.", Math.min(n, 7_000)), "a"), multipart)],
  ["a pointer", (n) => send("PATCH", item, `[{"op":"add","path":"/labels/${repeated("~1", n)}","value":1}]`, patch)],
  [
    "a pointer's index",
    (n) => send("PATCH", item, `[{"op":"add","path":"/tags/${repeated("1", n)}","value":1}]`, patch)
  ],
  [
    "a patch that tests",
    (n) => send("PATCH", item, `[${repeated("{\"op\":\"test\",\"path\":\"/email\",\"value\":1},", n)}{}]`, patch)
  ],
  ["a list of documents", (n) => send("POST", "/members", `[${repeated("{},", n)}{}]`)],
  ["a list of wrong texts", (n) => send("POST", "/members", `{"email":"a","tags":[${repeated("1,", n)}1]}`)],
  ["escapes of surrogates", (n) => send("POST", "/members", `{"a":"${repeated("\\ud83d\\ude00", n)}"}`)]
]

it.layer(serving(engine, EmbeddedStore.layerMemory), { excludeTestServices: true })("what a stranger sends", (it) => {
  it.effect("is answered in a moment, however long it is and whatever it is made of", () =>
    Effect.gen(function*() {
      yield* send("POST", "/members", { id: "there", email: "a@b.c" })
      // The time of a processor, of which a slow machine takes more.
      const limit = 50 * slowness()
      const slow: Array<string> = []
      const failed: Array<string> = []
      for (const [inputs, size] of [[heads, 14_000], [bodies, 1_000_000]] as const) {
        for (const [name, of] of inputs) {
          let least = Infinity
          for (let i = 0; i < 3 && least > limit; i++) {
            const before = threadTime()
            const { status, text } = yield* of(size)
            least = Math.min(least, threadTime() - before)
            if (status >= 500) failed.push(`${name}: ${text.slice(0, 200)}`)
          }
          if (least > limit) slow.push(`${name}: ${Math.round(least)} of ${Math.round(limit)} ms`)
        }
      }
      assert.deepStrictEqual([slow, failed], [[], []])
    }))
})
