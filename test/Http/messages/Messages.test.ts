import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, DateTime, Effect, Layer, Logger, Record, Schema } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { labelFrom } from "../../../src/Http/messages/label.ts"
import { effectsCheckOf } from "../../../src/Http/response/fieldResolver.ts"
import { EmbeddedStore, KernelEngine, Model, Resource, Service, ServiceError, Validator } from "../../../src/index.ts"
import { de } from "../../../src/internal/catalogues/de.ts"
import { freshDirectory } from "../../support/folders.ts"
import { type Answer, send, serving } from "../../support/rest.ts"

class Part extends Model.Class<Part>()("Part", { partNumber: Schema.Int }) {}

class Order extends Model.Class<Order>()("Order", {
  id: Model.id({ prefix: "O" }),
  name: Schema.String.pipe(Validator.notEmpty, Validator.max(5)),
  secret: Schema.String.pipe(Validator.min(9), Model.omitted),
  email: Schema.String.pipe(Validator.email, Validator.unique),
  price: Schema.Finite,
  ratio: Schema.FiniteFromString.pipe(Model.optional),
  state: Schema.Literals(["open", "paid", "cancelled"]).pipe(Model.optional),
  placed_at: Model.DateTime.pipe(Model.optional),
  day: Model.Date.pipe(Validator.past, Model.optional),
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => [])),
  parts: Schema.Array(Part).pipe(Model.withDefault(() => [])),
  ...Model.versioned
}) {}

class Place extends Model.Class<Place>()("Place", { city: Schema.String }) {}

class SoldOut extends ServiceError<SoldOut>()("SoldOut", {
  status: 409,
  message: "It is sold out",
  fields: { left: Schema.Int, until: Model.DateTime }
}) {}

const engine = KernelEngine.make("messages")
  .register(
    Resource.make(Order, { methods: ["GET", "POST", "PUT", "PATCH"] })
      .action("buy", {
        payload: {
          howMany: Schema.Int,
          gift: Schema.optionalKey(Schema.Struct({ cards: Schema.Array(Schema.Int), to: Schema.optionalKey(Place) }))
        },
        error: SoldOut
      }, () => Effect.fail(new SoldOut({ left: 2, until: DateTime.makeUnsafe("2026-03-01T12:00:00Z") })))
  )
  .register(
    Service.make("SearchService").operation(
      "find",
      { query: { limit: Schema.Int, kind: Schema.Literals(["big", "small"]) } },
      () => Effect.void
    )
  )
  .register(
    Service.make("Services").operation("order", { query: { since: Schema.String } }, () => Effect.void),
    { name: "services" }
  )

const valid = { name: "Ada", secret: "very secret", email: "ada@example.com", price: 3 }

const wrong = {
  name: "Adelheid",
  secret: "CANARY",
  email: "ada",
  price: "cheap",
  ratio: 3,
  state: "CANARY",
  placed_at: "yesterday",
  day: "2999-01-01",
  tags: ["a", 3],
  parts: [{ partNumber: 1 }, { partNumber: "x" }, 4, {}]
}

const counts = Schema.Record(Schema.String, Schema.Int)

const messagesOf = ({ body }: Answer): { readonly [field: string]: string } =>
  Object.fromEntries(body.errors.map(({ field, message }: { field: string; message: string }) => [field, message]))

const german = { "accept-language": "de-CH, en;q=0.5" }

/** What every caller may read: nothing of a schema's own words. */
const isPlain = ({ text }: Answer) => assert.notMatch(text, /Expected|Create\b|representing|string|array|CANARY/u)

describe("messages in English, which is the default", () => {
  it.layer(serving(engine, EmbeddedStore.layerMemory))((it) => {
    it.effect("describe the expectation of every field with its label", () =>
      Effect.gen(function*() {
        const answer = yield* send("POST", "/orders", wrong)
        isPlain(answer)
        assert.deepStrictEqual(messagesOf(answer), {
          "name": "Name must have at most 5 characters",
          "secret": "Secret must have at least 9 characters",
          "email": "Email must be an e-mail address",
          "price": "Price must be a number",
          "ratio": "Ratio must be a number, written as text",
          "state": "State must be one of open, paid, cancelled",
          "placed_at": "Placed at must be a date with a time, such as 2026-01-31T09:30:00",
          "day": "Day must be in the past",
          "tags.1": "Tags (item 2) must be a text",
          "parts.1.partNumber": "Part number (item 2) must be a whole number",
          "parts.2": "Parts (item 3) must be an object",
          "parts.3.partNumber": "Part number (item 4) must be given"
        })
        assert.match(answer.body.message, /^The request is not valid: Name must have .*; Price must be a number; /u)
        assert.deepStrictEqual(answer.headers["content-language"], undefined)
      }))

    it.effect("describe a missing body, actions, and parameters", () =>
      Effect.gen(function*() {
        for (const body of [3, null, "x", true]) {
          const answer = yield* send("POST", "/orders", JSON.stringify(body))
          isPlain(answer)
          assert.deepStrictEqual(messagesOf(answer), { "": "The body must be an object" })
        }
        const list = yield* send("POST", "/orders", [valid, { ...valid, price: "x" }, 7])
        assert.deepStrictEqual(messagesOf(list), {
          "1.price": "Price (item 2) must be a number",
          "2": "Item 3 must be an object"
        })
        yield* send("POST", "/orders", { ...valid, id: "O1" })
        const action = yield* send("POST", "/orders/O1/buy", { howMany: "many" })
        assert.deepStrictEqual(messagesOf(action), { howMany: "How many must be a whole number" })
        const query = yield* send("GET", "/searches/find?limit=x&kind=huge")
        isPlain(query)
        assert.deepStrictEqual(messagesOf(query), {
          limit: "limit must be a whole number",
          kind: "kind must be one of big, small"
        })
        for (const path of ["/searches/find?limit=1&kind=big&=x", "/orders?=x", "/orders/O1?=x", "/orders/meta?=x"]) {
          const nameless = yield* send("GET", path)
          assert.strictEqual(nameless.status, 400)
          assert.match(messagesOf(nameless)[""] ?? "", /^A parameter without a name is n/u, path)
        }
        const filter = yield* send("GET", "/orders?price=cheap&state=lost&nope=1&page=0")
        isPlain(filter)
        assert.deepStrictEqual(messagesOf(filter), {
          price: "Price must be a number",
          state: "State must be one of open, paid, cancelled",
          nope: "nope is neither a field nor a parameter of the collection",
          page: "page must be a whole number from 1 upwards"
        })
      }))
  })
})

/** Languages that are configured, and nothing else: neither a layer nor a file. */
const configured = ConfigProvider.layer(ConfigProvider.fromEnv({ env: { APPKERNEL_I18N_LANGUAGES: "en,de" } }))

describe("messages in German, with `i18n.languages` and no layer", () => {
  it.layer(serving(engine, EmbeddedStore.layerMemory).pipe(Layer.provide(configured)))((it) => {
    it.effect("tell of an omitted field as little as of one that is not there", () =>
      Effect.gen(function*() {
        for (const headers of [{}, german]) {
          const { body } = yield* send("GET", "/orders?secret=x&nothere=x&sort_by=secret", undefined, headers)
          const [secret, notThere] = ["secret", "nothere"].map((name) =>
            body.errors.find(({ field }: { readonly field: string }) => field === name)
          )
          assert.deepStrictEqual(
            { ...secret, message: secret.message.replace("secret", "nothere"), field: "nothere" },
            notThere
          )
        }
      }))

    it.effect("are part of the package", () =>
      Effect.gen(function*() {
        const answer = yield* send("POST", "/orders", wrong, german)
        assert.strictEqual(answer.headers["content-language"], "de")
        isPlain(answer)
        assert.deepStrictEqual(messagesOf(answer), {
          "name": "Name: höchstens 5 Zeichen erlaubt",
          "secret": "Secret: mindestens 9 Zeichen erwartet",
          "email": "Email: gültige E-Mail-Adresse erwartet",
          "price": "Price: Zahl erwartet",
          "ratio": "Ratio: Zahl erwartet",
          "state": "State: einer dieser Werte erwartet: open, paid, cancelled",
          "placed_at": "Placed at: Datum mit Uhrzeit erwartet, zum Beispiel 2026-01-31T09:30:00",
          "day": "Day: Zeitpunkt in der Vergangenheit erwartet",
          "tags.1": "Tags (Eintrag 2): Text erwartet",
          "parts.1.partNumber": "Part number (Eintrag 2): ganze Zahl erwartet",
          "parts.2": "Parts (Eintrag 3): Objekt erwartet",
          "parts.3.partNumber": "Part number (Eintrag 4): Angabe fehlt"
        })
        assert.match(answer.body.message, /^Die Anfrage ist nicht gültig: Name: höchstens /u)
      }))

    it.effect("explain why `query` and `pipe` are rejected, in all cases", () =>
      Effect.gen(function*() {
        const refused = (path: string, parameter: string, value: unknown) =>
          Effect.map(
            send("GET", `${path}?${parameter}=${encodeURIComponent(JSON.stringify(value))}`, undefined, german),
            (answer) => {
              assert.deepStrictEqual(answer.headers["content-language"], "de")
              return answer.status === 400
                ? answer.body.errors.map(({ message }: { readonly message: string }) => message)
                : [`${answer.status} ${answer.body.message}`]
            }
          )
        const details: ReadonlyArray<readonly [value: unknown, message: string]> = [
          [{ nope: 1 }, "query: \"nope\" ist kein Feld"],
          [{ price: "cheap" }, "query: \"price\" nimmt \"cheap\" nicht an"],
          [{ $and: 1 }, "query: $and braucht eine Liste von Filtern"],
          [{ price: { $in: 3 } }, "query: $in braucht eine Liste"],
          [{ name: { $regex: "a".repeat(300) } }, "query: reguläre Ausdrücke nur bis 256 Zeichen erlaubt"],
          [{ price: { $gt: { $date: "x" } } }, "query: $date ist kein gültiges Extended JSON"],
          [[], "query: Objekt mit Bedingungen erwartet"],
          [
            { $where: "1", name: { $foo: 1 } },
            "403 $foo ist von außen nicht erlaubt; $where ist von außen nicht erlaubt"
          ]
        ]
        for (const [value, message] of details) {
          assert.deepStrictEqual(yield* refused("/orders", "query", value), [message])
        }
        assert.deepStrictEqual(
          yield* refused("/orders/aggregate", "pipe", [{ $limit: [] }, { a: 1, b: 2 }, {
            $project: 3
          }]),
          [
            "pipe: $limit braucht eine Zahl oder einen Namen",
            "pipe: Stufen mit je einem Namen erwartet",
            "pipe: $project braucht Felder"
          ]
        )
        assert.deepStrictEqual(yield* refused("/orders/aggregate", "pipe", [{ $out: "x" }]), [
          "403 $out ist von außen nicht erlaubt"
        ])
        const text = yield* send("GET", "/orders?query=%7B", undefined, german)
        assert.deepStrictEqual(messagesOf(text), { query: "query: JSON erwartet" })
        const missing = yield* send("GET", "/orders/aggregate", undefined, german)
        assert.deepStrictEqual(messagesOf(missing), { pipe: "pipe: genau eine Angabe erwartet" })
      }))

    it.effect("explain why a JSON Patch is rejected or can't be applied", () =>
      Effect.gen(function*() {
        yield* send("POST", "/orders", { ...valid, email: "patched@example.com", id: "O-patched" })
        const patch = (...operations: ReadonlyArray<unknown>) =>
          send("PATCH", "/orders/O-patched", operations, { ...german, "content-type": "application/json-patch+json" })
        const invalid = yield* patch({ op: "x", path: "/name" }, { op: "remove", path: "name" }, {
          op: "add",
          path: "/nope",
          value: 1
        })
        assert.deepStrictEqual(messagesOf(invalid), {
          "0.op": "0.op: add, remove, replace, move, copy oder test erwartet",
          "1.path": "1.path: JSON Pointer erwartet"
        })
        const unknown = yield* patch({ op: "add", path: "/nope", value: 1 }, { op: "remove", path: "/_type" })
        assert.deepStrictEqual(messagesOf(unknown), {
          "0.path": "0.path: führt zu keinem Feld des Modells",
          "1.path": "1.path: führt zu etwas, das nicht änderbar ist"
        })
        const reasons: ReadonlyArray<readonly [operation: object, reason: string]> = [
          [
            { op: "test", path: "/name", value: "Bob" },
            "(test /name) ist nicht anwendbar: dort steht ein anderer Wert"
          ],
          [{ op: "remove", path: "/tags/7" }, "(remove /tags/7) ist nicht anwendbar: diese Stelle gibt es nicht"],
          [{ op: "copy", path: "/name", from: "/tags/7" }, "(copy /name) ist nicht anwendbar: bei from ist nichts"]
        ]
        for (const [operation, reason] of reasons) {
          const { body, status } = yield* patch(operation)
          assert.deepStrictEqual([status, body.message], [409, `Operation 0 ${reason}`])
        }
      }))

    it.effect("cover a badly encoded URL, and a form that is too large or invalid", () =>
      Effect.gen(function*() {
        const said = ({ body, headers, status }: Answer) => [status, headers["content-language"], body.message]
        assert.deepStrictEqual(said(yield* send("GET", "/orders/%FF", undefined, german)), [
          400,
          "de",
          "Der Pfad ist kein UTF-8 in Prozentkodierung"
        ])
        assert.deepStrictEqual(said(yield* send("GET", "/orders?name=%FF", undefined, german)), [
          400,
          "de",
          "Der Wert des Parameters name ist kein UTF-8 in Prozentkodierung"
        ])
        const form = { ...german, "content-type": "multipart/form-data; boundary=b" }
        assert.deepStrictEqual(said(yield* send("POST", "/orders", "nothing", form)), [
          400,
          "de",
          "Der Inhalt ist kein gültiges multipart/form-data"
        ])
        const long = `--b\r\nContent-Disposition: form-data; name="name"\r\n\r\n${"x".repeat(2 ** 21)}\r\n--b--\r\n`
        const tooLarge = yield* send("POST", "/orders", long, form)
        assert.deepStrictEqual(said(tooLarge).slice(0, 2), [413, "de"])
        assert.match(
          tooLarge.body.message,
          /^Das Formular ist größer als erlaubt: \d+ Bytes in höchstens \d+ Teilen, /u
        )
      }))

    it.effect("do not depend on whether a label is singular or plural", () =>
      Effect.sync(() => {
        const texts = Object.entries(de).filter(([key]) =>
          key.startsWith("validators.") && key !== "validators.More" || /^errors\.(?:query|patch)\./u.test(key)
        )
        assert.isAbove(texts.length, 80)
        for (const [key, text] of texts) {
          // A verb at the beginning of a text, or of one of its branches, would belong to the label.
          assert.notMatch(text, /(?:^|[a-z] \{)(?:darf|muss|ist|hat|kann|fehlt|überschreitet)\b/u, key)
        }
        assert.strictEqual(de["errors.Problem"], "{label}: {message}")
      }))

    it.effect("cover a 404, a 405, a 409, a 412 and a 415", () =>
      Effect.gen(function*() {
        const said = (answer: Answer) => [answer.status, answer.headers["content-language"], answer.body.message]
        yield* send("POST", "/orders", { ...valid, id: "O1" })
        assert.deepStrictEqual(said(yield* send("GET", "/orders/O-none", undefined, german)), [
          404,
          "de",
          "Order O-none gibt es nicht"
        ])
        assert.deepStrictEqual(said(yield* send("GET", "/nothing", undefined, german)), [
          404,
          "de",
          "Unter /nothing gibt es nichts"
        ])
        assert.deepStrictEqual(said(yield* send("DELETE", "/orders/O1", undefined, german)), [
          405,
          "de",
          "Die Methode DELETE ist für /orders/O1 nicht erlaubt"
        ])
        assert.deepStrictEqual(said(yield* send("POST", "/orders", valid, german)), [
          409,
          "de",
          "Order: Email gibt es schon"
        ])
        assert.deepStrictEqual(said(yield* send("PATCH", "/orders/O1", { name: "x", version: 7 }, german)), [
          409,
          "de",
          "Order O1 hat nicht mehr die Version 7"
        ])
        assert.deepStrictEqual(said(yield* send("POST", "/orders", "x", { ...german, "content-type": "text/plain" })), [
          415,
          "de",
          "Der Inhalt muss von der Art application/json, multipart/form-data sein"
        ])
        assert.deepStrictEqual(
          said(yield* send("PUT", "/orders/O1", valid, { ...german, "if-match": "\"9\"" })),
          [412, "de", "Das Dokument ist nicht das, nach dem If-Match oder If-None-Match fragt"]
        )
        const english = yield* send("GET", "/orders/O-none", undefined, { "accept-language": "fr" })
        assert.deepStrictEqual(said(english), [404, "en", "Order O-none does not exist"])
      }))
  })
})

describe("catalogues of a program's own", () => {
  const logged: Array<string> = []
  const logger = Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void logged.push(line))])
  const catalogue = {
    models: { Order: "Bestellung", Ordre: "x" },
    orders: { buy: { howMany: "Anzahl", howManny: "x", gift: { cards: "Karten" } }, by: { howMany: "x" } },
    searches: { find: { limit: "Höchstzahl" } },
    services: { searches: "Suche", order: { since: "Seit" }, find: { limit: "x" } },
    actions: { orders: { buy: "Kaufen" }, searches: { find: "Suchen" } },
    Place: { city: "Ort" },
    Order: { email: "E-Mail-Adresse", nmae: "Name" },
    errors: { SoldOut: "Ausverkauft, nur noch {left} da, bis zum {until, date, long} ({until})", SoldUot: "x" },
    validators: {
      "NotEmpyt": "x",
      "Min@Order.secret": "ist zu kurz",
      "Min@Order.secrets": "x",
      "Type@searches.find.limit": "ist keine Zahl"
    }
  }
  const translated = Layer.unwrap(Effect.map(freshDirectory, (directory) => {
    const path = `${directory}/translations`
    mkdirSync(path)
    writeFileSync(`${path}/de.json`, JSON.stringify(catalogue))
    const env = { APPKERNEL_I18N_LANGUAGES: "de", APPKERNEL_I18N_PATH: path }
    return ConfigProvider.layer(ConfigProvider.fromEnv({ env }))
  }))

  it.layer(serving(engine, EmbeddedStore.layerMemory).pipe(Layer.provide([translated, logger])))((it) => {
    it.effect("translate errors of the application with their fields, and name models and fields", () =>
      Effect.gen(function*() {
        yield* send("POST", "/orders", { ...valid, id: "O1" })
        const sold = yield* send("POST", "/orders/O1/buy", { howMany: 3 }, german)
        assert.deepStrictEqual([sold.status, sold.headers["content-language"], sold.body], [409, "de", {
          _type: "ErrorMessage",
          code: 409,
          error: "SoldOut",
          message: "Ausverkauft, nur noch 2 da, bis zum 1. März 2026 (2026-03-01T12:00:00.000Z)",
          left: 2,
          until: "2026-03-01T12:00:00.000000"
        }])
        const taken = yield* send("POST", "/orders", valid, german)
        assert.strictEqual(taken.body.message, "Bestellung: E-Mail-Adresse gibt es schon")
        const short = yield* send("POST", "/orders", { ...valid, secret: "x" }, german)
        assert.deepStrictEqual(messagesOf(short), { secret: "Secret: ist zu kurz" })
      }))

    it.effect("name the fields of payloads and parameters by the call, and those of a model in them by the model", () =>
      Effect.gen(function*() {
        const gift = { cards: [1, "x"], to: { city: 3 } }
        const action = yield* send("POST", "/orders/O1/buy", { howMany: "many", gift }, german)
        assert.deepStrictEqual(messagesOf(action), {
          howMany: "Anzahl: ganze Zahl erwartet",
          "gift.cards.1": "Karten (Eintrag 2): ganze Zahl erwartet",
          "gift.to.city": "Ort: Text erwartet"
        })
        const query = yield* send("GET", "/searches/find?limit=x&kind=big", undefined, german)
        assert.deepStrictEqual(messagesOf(query), { limit: "Höchstzahl: ist keine Zahl" })
      }))

    it.effect("cause a warning for unused keys", () =>
      Effect.sync(() => {
        const warnings = logged.filter((line) => line.includes("is the key of no text"))
        const keys = warnings.map((line) => /(\S+) is the key of no text/u.exec(line)?.[1])
        assert.deepStrictEqual([...new Set(keys)], [
          "models.Ordre",
          "orders.buy.howManny",
          "orders.by.howMany",
          "services.find.limit",
          "Order.nmae",
          "errors.SoldUot",
          "validators.NotEmpyt",
          "validators.Min@Order.secrets"
        ])
        assert.isTrue(warnings.every((line) => line.includes("de.json") && /level=warn/iu.test(line)))
      }))
  })
})

describe("messages of Effect's own checks", () => {
  const fields: {
    readonly [name: string]: readonly [schema: Schema.Codec<unknown, unknown>, wrong: unknown, german: string]
  } = {
    start: [Schema.String.check(Schema.isStartingWith("AB-")), "x", "Text erwartet, der mit „AB-“ beginnt"],
    end: [Schema.String.check(Schema.isEndingWith("z")), "x", "Text erwartet, der mit „z“ endet"],
    part: [Schema.String.check(Schema.isIncluding("z")), "x", "Text erwartet, der „z“ enthält"],
    upper: [Schema.String.check(Schema.isUppercased()), "x", "nur Großbuchstaben erlaubt"],
    lower: [Schema.String.check(Schema.isLowercased()), "X", "nur Kleinbuchstaben erlaubt"],
    capital: [Schema.String.check(Schema.isCapitalized()), "x", "Großbuchstabe am Anfang erwartet"],
    small: [Schema.String.check(Schema.isUncapitalized()), "X", "Kleinbuchstabe am Anfang erwartet"],
    trimmed: [Schema.Trimmed, " x", "Text ohne Leerraum am Anfang und am Ende erwartet"],
    guid: [Schema.String.check(Schema.isGUID()), "x", "GUID erwartet"],
    ulid: [Schema.String.check(Schema.isULID()), "x", "ULID erwartet"],
    ascii: [Schema.String.check(Schema.isAscii()), "é", "Text nur mit ASCII-Zeichen erwartet"],
    base64: [Schema.String.check(Schema.isBase64()), "*", "Text in Base64 erwartet"],
    base64Url: [Schema.String.check(Schema.isBase64Url()), "*", "Text in Base64url erwartet"],
    finite: [Schema.String.check(Schema.isStringFinite()), "x", "Zahl als Text erwartet"],
    bigint: [Schema.String.check(Schema.isStringBigInt()), "x", "ganze Zahl als Text erwartet"],
    between: [
      Schema.Finite.check(Schema.isBetween({ minimum: 2, maximum: 3000 })),
      1,
      "Wert von 2 bis 3.000 erwartet"
    ],
    above: [
      Schema.Finite.check(Schema.isBetween({ minimum: 2, maximum: 3, exclusiveMinimum: true })),
      2,
      "Wert von 2 (ausgeschlossen) bis 3 erwartet"
    ],
    many: [Schema.BigInt.check(Schema.isGreaterThanBigInt(5n)), "1", "Wert größer als 5 erwartet"],
    few: [Schema.BigInt.check(Schema.isLessThanBigInt(5n)), "9", "Wert kleiner als 5 erwartet"],
    least: [Schema.BigInt.check(Schema.isGreaterThanOrEqualToBigInt(5n)), "1", "mindestens 5 erwartet"],
    most: [Schema.BigInt.check(Schema.isLessThanOrEqualToBigInt(5n)), "9", "höchstens 5 erlaubt"],
    some: [
      Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 2n })),
      "9",
      "Wert von 1 bis 2 erwartet"
    ],
    after: [
      Schema.Date.check(Schema.isGreaterThanDate(new Date(0))),
      "1969-01-01T00:00:00Z",
      "Zeitpunkt nach 1970-01-01T00:00:00.000Z erwartet"
    ],
    from: [
      Schema.Date.check(Schema.isGreaterThanOrEqualToDate(new Date(0))),
      "1969-01-01T00:00:00Z",
      "Zeitpunkt ab 1970-01-01T00:00:00.000Z erwartet"
    ],
    before: [
      Schema.Date.check(Schema.isLessThanDate(new Date(0))),
      "1971-01-01T00:00:00Z",
      "Zeitpunkt vor 1970-01-01T00:00:00.000Z erwartet"
    ],
    until: [
      Schema.Date.check(Schema.isLessThanOrEqualToDate(new Date(0))),
      "1971-01-01T00:00:00Z",
      "Zeitpunkt bis 1970-01-01T00:00:00.000Z erwartet"
    ],
    within: [
      Schema.Date.check(Schema.isBetweenDate({ minimum: new Date(0), maximum: new Date(1000) })),
      "1971-01-01T00:00:00Z",
      "Zeitpunkt von 1970-01-01T00:00:00.000Z bis 1970-01-01T00:00:01.000Z erwartet"
    ],
    length: [Schema.String.check(Schema.isBetweenLength(2, 3)), "x", "Länge von 2 bis 3 erwartet"],
    characters: [Schema.String.check(Schema.isBetweenCodePoints(2, 3)), "x", "2 bis 3 Zeichen erwartet"],
    set: [Schema.ReadonlySet(Schema.Int).check(Schema.isMinSize(2)), [1], "mindestens 2 Einträge erwartet"],
    smallSet: [Schema.ReadonlySet(Schema.Int).check(Schema.isMaxSize(1)), [1, 2], "höchstens 1 Eintrag erlaubt"],
    sizedSet: [Schema.ReadonlySet(Schema.Int).check(Schema.isBetweenSize(2, 3)), [1], "2 bis 3 Einträge erwartet"],
    record: [counts.check(Schema.isMinProperties(2)), { a: 1 }, "mindestens 2 Einträge erwartet"],
    smallRecord: [counts.check(Schema.isMaxProperties(1)), { a: 1, b: 2 }, "höchstens 1 Eintrag erlaubt"],
    sizedRecord: [counts.check(Schema.isBetweenProperties(2, 3)), { a: 1 }, "2 bis 3 Einträge erwartet"],
    rows: [
      Schema.Array(Schema.Tuple([Schema.Int, Schema.Int])).check(Schema.isUniqueKey()),
      [[1, 2], [1, 3]],
      "kein Schlüssel zweimal erlaubt"
    ]
  }

  class Checked extends Model.Class<Checked>()("Checked", {
    id: Model.id(),
    ...Record.map(fields, ([schema]) => schema.pipe(Model.optional))
  }) {}

  const languages = ConfigProvider.fromUnknown({ appkernel: { i18n: { languages: "en,de" } } })

  it.layer(
    serving(
      KernelEngine.make("checks").register(Resource.make(Checked, { methods: ["POST"] })),
      EmbeddedStore.layerMemory
    ).pipe(
      Layer.provide(ConfigProvider.layer(languages))
    )
  )((it) => {
    it.effect("have words in every language of the package", () =>
      Effect.gen(function*() {
        const wrongFields = Record.map(fields, ([, value]) => value)
        const answer = yield* send("POST", "/checkeds", wrongFields, german)
        assert.deepStrictEqual(
          messagesOf(answer),
          Record.map(fields, ([, , words], name) => `${labelFrom(name)}: ${words}`)
        )
        const inEnglish = messagesOf(yield* send("POST", "/checkeds", wrongFields))
        assert.deepStrictEqual(Object.keys(inEnglish), Object.keys(fields))
        assert.deepStrictEqual(inEnglish["many"], "Many must be greater than 5")
      }))

    it.effect("are those of the checks that the package translates, all of them", () =>
      Effect.sync(() => {
        const translated = Object.keys(de).flatMap((key) => /^validators\.(is\w+)$/u.exec(key)?.[1] ?? [])
        const declared = Object.values(fields).flatMap(([{ ast }]) =>
          (ast.checks ?? []).flatMap((check) => effectsCheckOf(check)?.name ?? [])
        ).filter((name) => name !== "isFinite")
        assert.deepStrictEqual([...new Set(declared)].toSorted(), translated.toSorted())
      }))
  })
})
