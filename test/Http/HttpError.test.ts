/** The table of errors over a socket: each class has its status, and each text its language. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Layer, Schema } from "effect"
import { errorKeys } from "../../src/Http/errors/errorKeys.ts"
import { type Failure, failures, fromFailure, type HttpError, table } from "../../src/Http/HttpError.ts"
import { badRequestOf, fieldProblem } from "../../src/Http/messages/message.ts"
import { UpstreamError } from "../../src/Http/UpstreamError.ts"
import {
  ClientError,
  EmbeddedStore,
  Index,
  KernelEngine,
  Model,
  ModelError,
  RepositoryError,
  Resource,
  Service
} from "../../src/index.ts"
import { de } from "../../src/internal/catalogues/de.ts"
import { en } from "../../src/internal/catalogues/en.ts"
import type { Text } from "../../src/internal/text.ts"
import { englishOf, type Key } from "../../src/internal/texts.ts"
import { problemsIn, refused, send, serving } from "../support/rest.ts"

/** What the operation fails with that the tests ask. */
let failing: unknown

class Grid extends Model.Class<Grid>()("Grid", {
  id: Model.id({ prefix: "G" }),
  rows: Schema.Array(Schema.Int),
  columns: Schema.Array(Schema.Int).pipe(Model.optional)
}, { indexes: [Index.compound({ rows: 1, columns: 1 })] }) {}

const engine = KernelEngine.make("errors")
  .register(Resource.make(Grid, { methods: ["GET", "POST"] }))
  .register(Service.make("FailingService").operation("now", {}, () => Effect.fail(failing as never)))

const languages = ConfigProvider.layer(ConfigProvider.fromEnv({ env: { APPKERNEL_I18N_LANGUAGES: "en,de" } }))

const answerTo = (error: unknown, language: string, accept = "application/json") =>
  Effect.suspend(() => {
    failing = error
    return send("GET", "/failings/now", undefined, { "accept-language": language, accept })
  })

/** Each name that a sentence has, as its argument. */
const argsIn = (key: Key): Text["args"] =>
  Object.fromEntries([...en[key].matchAll(/\{(\w+)\}/gu)].map(([, name = ""]) => [name, `<${name}>`]))

const filledIn = (sentence: string) => sentence.replaceAll(/\{(\w+)\}/gu, "<$1>")

// The table and the keys have the same tags.
const saidWith = Object.entries(table).flatMap(([tag, { error, status }]) =>
  errorKeys[tag as keyof typeof errorKeys].map((key) => {
    const text = { key, args: argsIn(key) }
    // Some of the classes need more than a message.
    const make = error as unknown as new(fields: object) => HttpError
    return { tag, key, status, error: new make({ message: englishOf(text), text, retry_after: 7 }) }
  })
)

/** Copies of an error: by its class, and by its schema. */
const copiesOf = (error: HttpError): Effect.Effect<ReadonlyArray<HttpError>> => {
  const Class = error.constructor as unknown as Schema.Codec<HttpError> & (new(fields: object) => HttpError)
  const json = Schema.toCodecJson(Class)
  return Effect.orDie(Effect.all([
    Effect.sync(() => new Class({ ...error, message: error.message })),
    Effect.flatMap(Schema.encodeEffect(Class)(error), Schema.decodeEffect(Class)),
    Effect.flatMap(Schema.encodeEffect(json)(error), Schema.decodeEffect(json))
  ]))
}

const problem = new ModelError.Problem({ field: "name", validator: "NotEmpty", message: "must not be empty" })

const call = (reason: typeof ClientError.Reason.Type) =>
  new ClientError.RequestHandlingException({ message: "inside", upstreamService: "stock", reason })

const user = { model: "User", id: "U1" }

/** What each failure is answered: its status, and its message in English and in German. */
const answers: {
  readonly [F in Failure | RepositoryError.BulkInsertFailed as F["_tag"]]: readonly [F, number, string, string]
} = {
  PropertyRequiredException: [
    new ModelError.PropertyRequiredException({ model: "User", field: "name", problems: [problem] }),
    400,
    "The request is not valid: name must not be empty",
    "Die Anfrage ist nicht gültig: name: leere Angabe nicht erlaubt"
  ],
  ValidationException: [
    new ModelError.ValidationException({
      model: "User",
      validator: "NotEmpty",
      field: "name",
      detail: "inside",
      problems: [problem]
    }),
    400,
    "The request is not valid: name must not be empty",
    "Die Anfrage ist nicht gültig: name: leere Angabe nicht erlaubt"
  ],
  QueryRejected: [
    new RepositoryError.QueryRejected({ operation: "find", detail: "inside", advice: "name a field" }),
    400,
    "The store can't do what the request asks for: name a field",
    "Der Speicher kann nicht, was die Anfrage verlangt: name a field"
  ],
  FileQuotaExceeded: [
    new RepositoryError.FileQuotaExceeded({ model: "User", field: "team", limit: 100 }),
    413,
    "The files of User with this Team may have 100 bytes together, and would have more",
    "Die Dateien von User mit diesem Wert von Team dürfen zusammen 100 Bytes haben, und hätten mehr"
  ],
  AccessDenied: [
    new RepositoryError.AccessDenied({ model: "User" }),
    403,
    "You are not allowed to do this",
    "Das ist Ihnen nicht erlaubt"
  ],
  DocumentNotFound: [
    new RepositoryError.DocumentNotFound(user),
    404,
    "User U1 does not exist",
    "User U1 gibt es nicht"
  ],
  DocumentReferenced: [
    new RepositoryError.DocumentReferenced({ ...user, by: "Note", field: "written_by" }),
    409,
    "User U1 can't be deleted, because the Written by of a stored Note refers to it",
    "User U1 kann nicht gelöscht werden, da Note im Feld Written by darauf verweist"
  ],
  DuplicateKey: [
    new RepositoryError.DuplicateKey({ collection: "User", index: "inside", fields: ["_id", "email"] }),
    409,
    "There is another User with the same Id, Email",
    "User: Id, Email gibt es schon"
  ],
  VersionConflict: [
    new RepositoryError.VersionConflict({ ...user, expected: 3 }),
    409,
    "User U1 no longer has version 3",
    "User U1 hat nicht mehr die Version 3"
  ],
  Unsupported: [
    new RepositoryError.Unsupported({ operation: "inside", feature: "$where" }),
    501,
    "The store does not support $where",
    "Der Speicher kann das nicht: $where"
  ],
  QueryTimeout: [
    new RepositoryError.QueryTimeout({ operation: "inside" }),
    503,
    "The query took too long and was stopped",
    "Die Abfrage hat zu lange gedauert und wurde abgebrochen"
  ],
  StoreUnavailable: [
    new RepositoryError.StoreUnavailable({ operation: "inside", detail: "inside", retryable: true }),
    503,
    "The store is unavailable, try again later",
    "Der Speicher ist nicht erreichbar, bitte später noch einmal versuchen"
  ],
  DataDamaged: [
    new RepositoryError.DataDamaged({ collection: "inside" }),
    500,
    "The request could not be handled; it is logged as ",
    "Die Anfrage konnte nicht bearbeitet werden; sie ist unter "
  ],
  RequestHandlingException: [
    call({ _tag: "Timeout" }),
    500,
    "The service stock does not answer",
    "Keine Antwort vom Dienst stock"
  ],
  CircuitOpenError: [
    new ClientError.CircuitOpenError({ upstreamService: "stock", retryAfter: Duration.seconds(9) }),
    503,
    "The service stock is unavailable, try again in 9 s",
    "Der Dienst stock ist nicht verfügbar, neuer Versuch in 9 s möglich"
  ],
  BulkInsertFailed: [
    new RepositoryError.BulkInsertFailed({
      collection: "User",
      insertedCount: 1,
      failures: [{ index: 1, error: new RepositoryError.QueryRejected({ operation: "insert", detail: "inside" }) }]
    }),
    409,
    "Not all of User could be inserted: The store can't take item 2",
    "User: nicht alles konnte eingefügt werden: Der Speicher nimmt Eintrag 2 nicht an"
  ]
}

describe("the table of errors", () => {
  it("has every message of the engine, but the parts of messages and what calls to other services fail with", () => {
    const parts = new Set(
      ["Problem", "Item", "Position", "Body", "Nameless", "HiddenField"].map((name) => `errors.${name}`)
    )
    const elsewhere = /^errors\.(?:query|patch|Upstream)/u
    assert.sameMembers(
      [...new Set(saidWith.map(({ key }) => key))].filter((key) => !elsewhere.test(key)),
      Object.keys(en).filter((key) => !elsewhere.test(key) && !parts.has(key))
    )
  })

  it("says in the program what it says in a response", () => {
    for (const [failure] of Object.values(answers)) {
      if (failure._tag === "BulkInsertFailed") continue
      assert.strictEqual(fromFailure(failure)._tag, failures[failure._tag](failure as never)._tag)
      if (["DocumentNotFound", "DocumentReferenced", "VersionConflict"].includes(failure._tag)) {
        assert.strictEqual(fromFailure(failure).message, failure.message)
      }
    }
  })

  it.layer(serving(engine, EmbeddedStore.layerMemory).pipe(Layer.provide(languages)))((it) => {
    it.effect("answers each class with its status and its text, a copy of it too, and as problem details", () =>
      Effect.gen(function*() {
        for (const { error, key, status, tag } of saidWith) {
          for (const [language, catalogue] of [["en", en], ["de", de]] as const) {
            const message = filledIn(catalogue[key])
            const details = yield* answerTo(error, language, "application/problem+json, application/json")
            const { detail, message: same, status: told } = JSON.parse(details.text)
            assert.deepStrictEqual([details.status, told, detail, same], [status, status, message, message])
            for (const one of [error, ...(yield* copiesOf(error))]) {
              assert.strictEqual(refused(status, yield* answerTo(one, language)).body.message, message, `${tag} ${key}`)
            }
          }
        }
      }))

    it.effect("answers each failure with the status and the text of its row, and nothing from inside", () =>
      Effect.gen(function*() {
        for (const [failure, status, english, german] of Object.values(answers)) {
          for (const [language, message] of [["en", english], ["de", german]] as const) {
            const answer = refused(status, yield* answerTo(failure, language))
            assert.include(answer.body.message, message)
            assert.notInclude(answer.text, "inside")
          }
        }
      }))

    it.effect("keeps the texts of problems in a copy, whatever happens to their fields", () =>
      Effect.gen(function*() {
        const error = badRequestOf([
          fieldProblem("sort", "Parameter", "errors.query.GivenOnce"),
          { field: "name", validator: "NotEmpty", message: "must not be empty" },
          fieldProblem("filter", "Parameter", "errors.query.TooLong", { limit: 9 })
        ])
        for (const one of [error, ...(yield* copiesOf(error))] as ReadonlyArray<typeof error>) {
          const answer = yield* answerTo(one, "de")
          assert.deepStrictEqual(answer.body.errors.map(({ message }: { readonly message: string }) => message), [
            "sort: genau eine Angabe erwartet",
            "name: leere Angabe nicht erlaubt",
            "filter: höchstens 9 Zeichen erlaubt"
          ])
          const last = yield* answerTo(
            new table.BadRequest.error({ ...one, message: one.message, errors: one.errors.slice(2) }),
            "de"
          )
          assert.strictEqual(last.body.message, "Die Anfrage ist nicht gültig: filter: höchstens 9 Zeichen erlaubt")
        }
      }))

    it.effect("sends a message that an application has given to an error as it is", () =>
      Effect.gen(function*() {
        for (const { error, status } of saidWith) {
          const Class = error.constructor as unknown as new(fields: object) => HttpError
          for (
            const own of [new Class({ ...error, message: "mine" }), new Class({ message: "mine", retry_after: 7 })]
          ) {
            assert.strictEqual(refused(status, yield* answerTo(own, "de")).body.message, "mine")
          }
        }
      }))

    it.effect("translates what is said of a failed call, in a copy too", () =>
      Effect.gen(function*() {
        const error = fromFailure(call({ _tag: "Reset" }))
        for (const one of yield* copiesOf(error)) {
          const answer = yield* answerTo(one, "de")
          assert.deepStrictEqual([answer.status, answer.body.message], [500, "Keine Antwort vom Dienst stock"])
        }
        const secret = new UpstreamError({ code: 401, message: "inside", upstream_service: "stock" })
        assert.deepInclude((yield* answerTo(secret, "de")).body, { code: 502, message: "Fehler im Dienst stock" })
      }))

    it.effect("names an item of a list that the store can't take, in German too", () =>
      Effect.gen(function*() {
        const items = [{ rows: [1] }, { rows: [1, 2], columns: [1, 2] }]
        const inLanguage = (language: string) => send("POST", "/grids", items, { "accept-language": language })
        assert.strictEqual(refused(400, yield* inLanguage("en")).body.message, "The store can't take item 2")
        const german = yield* inLanguage("de")
        assert.strictEqual(german.body.message, "Der Speicher nimmt Eintrag 2 nicht an")
        assert.deepStrictEqual(problemsIn(german), [])
      }))
  })
})
