import { NodeHttpServer, NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted, Schema } from "effect"
import { HttpBody, HttpClient, HttpClientRequest } from "effect/http"
import { mkdirSync, writeFileSync } from "node:fs"
import { engine as shop, translations as shopTranslations } from "../../examples/shop/engine.ts"
import {
  EmbeddedStore,
  KernelEngine,
  Model,
  Resource,
  Role,
  Service,
  Translations,
  Validator
} from "../../src/index.ts"
import { freshDirectory } from "../support/folders.ts"
import { bearer, sendTo } from "../support/rest.ts"
import { administrator, credentials, payments } from "../support/shop.ts"
import { shop as shopTokens } from "../support/tokens.ts"

class Place extends Model.Class<Place>()("Place", {
  city: Schema.String.pipe(Validator.notEmpty)
}) {}

class Item extends Model.Class<Item>()("Item", {
  id: Model.id({ prefix: "I" }),
  name: Schema.String.pipe(Validator.notEmpty, Validator.min(3)),
  secret: Schema.String.pipe(Validator.min(8), Model.omitted),
  price: Schema.Finite.pipe(Validator.min(0), Validator.max(1000)),
  count: Schema.Int.pipe(Model.optional),
  kind: Schema.Literals(["big", "small"]).pipe(Model.optional),
  made: Model.Date.pipe(Model.optional),
  tags: Schema.Array(Schema.String.pipe(Validator.max(3))).pipe(Validator.max(1), Model.withDefault(() => [])),
  note: Schema.String.check(Schema.makeFilter((text) => text !== "rude" || "is rude")).pipe(Model.optional),
  place: Place.pipe(Model.optional),
  places: Schema.Array(Place).pipe(Model.withDefault(() => []))
}, {
  validators: [
    Validator.related("Bargain", "price", ({ kind, price }) => kind !== "small" || price < 500, {
      message: "is too much for a small one",
      value: 500
    })
  ]
}) {}

class Mug extends Model.Class<Mug>()("Mug", {
  id: Model.id({ prefix: "M" }),
  size: Schema.Int.pipe(Validator.min(2), Validator.min(5))
}) {}

/** A model whose rules are within others. */
class Ruled extends Model.Class<Ruled>()("Ruled", {
  id: Model.id({ prefix: "R" }),
  grouped: Schema.String.check(
    Schema.makeFilterGroup([
      Schema.isMaxLength(9),
      Schema.makeFilterGroup([Schema.isMinLength(2), Schema.isMaxLength(5)])
    ])
  ),
  named: Schema.Record(Schema.String, Schema.Int).check(
    Schema.isPropertyNames(Schema.String.check(Schema.isMinLength(2)))
  )
}) {}

interface Box {
  readonly title: string
  readonly inner?: Box
}

class Crate extends Model.Class<Crate>()("Crate", {
  id: Model.id({ prefix: "C" }),
  title: Schema.String.pipe(Validator.notEmpty),
  // An instance has an identifier, too, on which nothing here depends.
  inner: Schema.suspend((): Schema.Codec<Box, Box> => Crate as never).pipe(Model.optional)
}) {}

const engine = KernelEngine.make("labels")
  .register(Item, { methods: ["GET", "POST", "PUT", "PATCH"] })
  .register(Mug, { methods: ["GET", "POST"] })
  .register(Crate, { methods: ["GET", "POST"] })
  .register(Ruled, { methods: ["GET", "POST"] })

const min =
  "{type, select, str {muss mindestens {value, plural, one {ein Zeichen} other {# Zeichen}} haben} other {{label} muss mindestens {value} sein}}"

const catalogues = {
  en: { "Item.name": "Name", "Item.secret": "Secret" },
  de: {
    "Item": {
      name: "Bezeichnung",
      secret: "Geheimnis",
      price: "Preis",
      tags: "Schlagwörter",
      kind: "Art",
      places: "Orte"
    },
    "Place.city": "Ort",
    "Mug": { size: "Größe" },
    "Crate": { title: "Kistenname" },
    "models": { Mug: "Becher" },
    "collections": { Mug: "Alle Becher" },
    "help": { Mug: { size: "In Dezilitern" } },
    "values": { Item: { kind: { big: "Groß" } } },
    "errors": {
      Invalid: "{count, plural, one {Ein Fehler} other {# Fehler}}: {problems}",
      Problem: "„{label}“ {message}"
    },
    "validators": {
      "NotEmpty": "darf nicht leer sein",
      "Min": min,
      "Max":
        "{type, select, list {höchstens {value, plural, one {ein Eintrag} other {# Einträge}}} other {höchstens {value, number}}}",
      "Max@Item.price": "höchstens {value, number} Franken",
      "Required": "fehlt",
      "Type":
        "{type, select, int {keine ganze Zahl} float {keine Zahl} enum {nur {value}} date {kein Datum} other {kein {type}}}",
      "Bargain": "für kleine unter {value}",
      "Url": "geht nicht in einer URL",
      "Id": "ist nicht die der URL",
      "Parameter": "{type, select, unknown {kenne ich nicht} bool {true oder false} other {nimmt das nicht}}",
      "Parameter@page_size": "von 1 bis {value, number}"
    }
  },
  "de-CH": { "Mug.size": "Grösse", "validators.NotEmpty": "darf nöd leer sii" }
}

/** A folder of catalogues that is gone after the test; what is a text stands in the file as it is. */
const folderOf = (files: { readonly [language: string]: unknown }) =>
  Effect.map(freshDirectory, (directory) => {
    const path = `${directory}/translations`
    mkdirSync(path)
    for (const [language, content] of Object.entries(files)) {
      writeFileSync(`${path}/${language}.json`, typeof content === "string" ? content : JSON.stringify(content))
    }
    return path
  })

const translated = (languages: ReadonlyArray<string>, files: { readonly [language: string]: unknown } = catalogues) =>
  Layer.unwrap(Effect.map(folderOf(files), (path) => Translations.layerWith({ path, languages }))).pipe(
    Layer.provide(NodeServices.layer)
  )

const served = <E, R>(translations: Layer.Layer<never, E, R>) =>
  engine.layerServe.pipe(
    Layer.provide(translations),
    Layer.provideMerge(EmbeddedStore.layerMemory),
    Layer.provideMerge(NodeHttpServer.layerTest)
  )

const send = Effect.fnUntraced(
  function*(
    method: "GET" | "POST" | "PUT" | "PATCH",
    path: string,
    language?: string,
    body?: unknown,
    more?: { readonly [name: string]: string }
  ) {
    const headers = { ...(language === undefined ? {} : { "accept-language": language }), ...more }
    const content = body === undefined
      ? HttpBody.empty
      : HttpBody.text(typeof body === "string" ? body : JSON.stringify(body), "application/json")
    const request = HttpClientRequest.make(method)(path, { headers }).pipe(HttpClientRequest.setBody(content))
    const response = yield* HttpClient.execute(request)
    const text = yield* response.text
    return {
      status: response.status,
      language: response.headers["content-language"],
      vary: response.headers["vary"],
      text,
      // The tests look into bodies of every shape.
      body: JSON.parse(text)
    }
  }
)

type Answer = Effect.Success<ReturnType<typeof send>>

const messages = ({ body }: Answer) =>
  Object.fromEntries(
    body.errors.map(({ field, message }: { field: string; message: string }) => [field, message])
  )

const valid = { name: "Tasse", secret: "12345678", price: 3 }

describe("labels / memory", () => {
  it.layer(served(translated(["en", "de", "de-CH"])))((it) => {
    it.effect("are in the language of the request, at every depth", () =>
      Effect.gen(function*() {
        const { body, language, status, vary } = yield* send("GET", "/items/meta", "de")
        assert.deepStrictEqual([status, language, vary], [200, "de", "Accept-Language"])
        assert.strictEqual(body.name.label, "Bezeichnung")
        assert.strictEqual(body.place.props.city.label, "Ort")
        assert.strictEqual(body.places.label, "Orte")
        assert.strictEqual(body.places.sub_type.props.city.label, "Ort")
        const english = yield* send("GET", "/items/meta", "en")
        assert.deepStrictEqual([english.language, english.vary], ["en", "Accept-Language"])
        assert.strictEqual(english.body.name.label, "Name")
        assert.deepStrictEqual({ ...body.name, label: "" }, { ...english.body.name, label: "" })
      }))

    it.effect("are the keys themselves if a catalogue has none", () =>
      Effect.gen(function*() {
        const { body } = yield* send("GET", "/items/meta", "de")
        assert.strictEqual(body.made.label, "Item.made")
        assert.strictEqual(body.place.label, "Item.place")
      }))

    it.effect("have those of documents, help, and the members of enumerations, where there are some", () =>
      Effect.gen(function*() {
        const { body } = yield* send("GET", "/mugs/meta", "de-CH")
        assert.deepStrictEqual([body._model, body.size.help], [
          { label: "Becher", plural: "Alle Becher" },
          "In Dezilitern"
        ])
        const items = yield* send("GET", "/items/meta", "de")
        assert.deepStrictEqual([items.body.kind.value_labels, items.body._model], [{ big: "Groß" }, undefined])
        const english = yield* send("GET", "/mugs/meta", "en")
        assert.deepStrictEqual(Object.keys(english.body), ["id", "size"])
      }))

    it.effect("fall back from a region to its language", () =>
      Effect.gen(function*() {
        const mug = yield* send("GET", "/mugs/meta", "de-CH")
        assert.deepStrictEqual([mug.language, mug.body.size.label], ["de-CH", "Grösse"])
        assert.strictEqual((yield* send("GET", "/items/meta", "de-CH")).body.name.label, "Bezeichnung")
      }))

    it.effect("never reveal an omitted field", () =>
      Effect.gen(function*() {
        for (const language of ["en", "de"]) {
          assert.notMatch((yield* send("GET", "/items/meta", language)).text, /secret|Geheimnis/i)
        }
      }))

    it.effect("follow the preferences that a request states", () =>
      Effect.gen(function*() {
        const cases: ReadonlyArray<readonly [string | undefined, string]> = [
          [undefined, "en"],
          ["de-AT", "de"],
          ["en;q=0.5, de;q=0.9", "de"],
          ["fr, de;q=0.2, en;q=0.1", "de"],
          ["fr", "en"],
          ["*", "en"],
          ["en;q=0, *;q=0.5", "de"],
          ["DE-ch", "de-CH"],
          [";;q=,,\"", "en"],
          ["", "en"],
          [`de, ${"x, ".repeat(2_000)}`, "en"]
        ]
        for (const [header, expected] of cases) {
          const { language } = yield* send("GET", "/mugs/meta", header)
          assert.strictEqual(language, expected, header)
        }
      }))
  })
})

describe("labels of actions / memory", () => {
  class Chair extends Model.Class<Chair>()("Chair", { id: Model.id(), name: Schema.String, cost: Schema.Int }) {}

  const chairs = KernelEngine.make("chairs").register(
    Resource.make(Chair, { methods: ["GET"] })
      .action("copy", {
        method: "POST",
        payload: Chair,
        success: Schema.String,
        require: [Role("seller"), Role("buyer")]
      }, ({ id }) => Effect.succeed(id))
      .action("burn", {
        method: "POST",
        query: { why: Schema.String },
        success: Schema.String,
        require: Role("seller")
      }, ({ id }) => Effect.succeed(id))
      .grant(Role("seller"), { methods: "GET" })
      .grant(Role("buyer"), { methods: "GET", hide: ["cost"] })
  ).enableSecurity()

  const labels = {
    actions: { chairs: { copy: "Copy it", burn: "Burn it" } },
    chairs: { copy: { name: "Its name", cost: "Its cost" }, burn: { why: "Why" } }
  }

  it.effect("are those of actions that a caller may use, with the arguments that they may see", () =>
    Effect.gen(function*() {
      const { baseUrl, token } = yield* chairs.test()
      const meta = Effect.fnUntraced(function*(role: string) {
        const headers = bearer(Redacted.value(yield* token({ subject: "me", roles: [role] })))
        return yield* sendTo(baseUrl, "GET", "/chairs/meta", undefined, headers)
      })
      for (const _ of [1, 2]) {
        assert.deepStrictEqual((yield* meta("seller")).body._actions, {
          copy: { label: "Copy it", arguments: { name: "Its name", cost: "Its cost" } },
          burn: { label: "Burn it", arguments: { why: "Why" } }
        })
        const buyer = yield* meta("buyer")
        assert.deepStrictEqual(buyer.body._actions, { copy: { label: "Copy it", arguments: { name: "Its name" } } })
        assert.notMatch(buyer.text, /cost|burn/iu)
      }
    }).pipe(Effect.scoped, Effect.provide([translated(["en"], { en: labels }), shopTokens("EdDSA")])))
})

describe("labels of operations / memory", () => {
  const payload = {
    sheets: Schema.Int,
    paper: Schema.optionalKey(Schema.Literals(["plain", "glossy"])),
    sides: Schema.optionalKey(Schema.Array(Schema.Literals([1, 2])))
  }
  const own = { method: "POST", payload, success: Schema.String } as const
  const press = KernelEngine.make("press").register(
    Service.make("PressService")
      .operation("run", { ...own, require: [Role("printer"), Role("owner")] }, () => Effect.succeed("runs"))
      .operation("sell", { ...own, require: Role("owner") }, () => Effect.succeed("sold"))
  ).enableSecurity().enableExplorer()

  const open = KernelEngine.make("open press").register(
    Service.make("PressService").operation("run", own, () => Effect.succeed("runs"))
  ).enableExplorer()

  const german = {
    services: { press: "Druckerei" },
    actions: { press: { run: "Drucken", sell: "Verkaufen" } },
    press: { run: { sheets: "Bogen" }, sell: { sheets: "Bögen" } },
    values: { press: { run: { paper: { glossy: "glänzend" }, sides: { "1": "einseitig", "3": "nie" } } } }
  }

  it.effect("are in the language of who asks the explorer, of what they may use", () =>
    Effect.gen(function*() {
      const { baseUrl, token } = yield* press.test()
      const described = Effect.fnUntraced(function*(role: string, language: string) {
        const headers = bearer(Redacted.value(yield* token({ subject: "me", roles: [role] })))
        return yield* sendTo(baseUrl, "GET", "/explorer/openapi.json", undefined, {
          ...headers,
          "accept-language": language
        })
      })
      const values = { paper: { glossy: "glänzend" }, sides: { 1: "einseitig" } }
      const run = { label: "Drucken", arguments: { sheets: "Bogen" }, values }
      for (const _ of [1, 2]) {
        const owner = yield* described("owner", "de")
        assert.strictEqual(owner.headers["content-language"], "de")
        assert.strictEqual(owner.headers["vary"], "accept-encoding, accept-language, Authorization")
        assert.deepStrictEqual(owner.body["x-labels"], {
          "press": { label: "Druckerei" },
          "press.run": run,
          "press.sell": { label: "Verkaufen", arguments: { sheets: "Bögen" } }
        })
        const printer = yield* described("printer", "de")
        assert.deepStrictEqual(printer.body["x-labels"], { "press": { label: "Druckerei" }, "press.run": run })
        assert.notInclude(printer.text, "Verkaufen")
        const english = yield* described("owner", "en")
        assert.deepStrictEqual([english.headers["content-language"], english.body["x-labels"]], ["en", {}])
      }
    }).pipe(Effect.scoped, Effect.provide([translated(["en", "de"], { de: german }), shopTokens("EdDSA")])))

  it.effect("are those of the catalogues that were read last", () =>
    Effect.gen(function*() {
      const read = Effect.fnUntraced(function*(run: string) {
        const path = yield* folderOf({ de: { actions: { press: { run } } } })
        return yield* Translations.make({ path, languages: ["de"] })
      })
      let current = yield* read("Drucken")
      const translations: Translations.Translations = {
        get languages() {
          return current.languages
        },
        languageOf: (accepted) => current.languageOf(accepted)
      }
      const label = (baseUrl: string, headers: Record<string, string> = {}) =>
        Effect.map(
          sendTo(baseUrl, "GET", "/explorer/openapi.json", undefined, headers),
          ({ body }) => body["x-labels"]["press.run"].label
        )
      const labels = yield* Effect.gen(function*() {
        const { baseUrl, token } = yield* press.test()
        const owner = bearer(Redacted.value(yield* token({ subject: "me", roles: ["owner"] })))
        return Effect.all([label(baseUrl, owner), label((yield* open.test()).baseUrl)])
      }).pipe(Effect.provideService(Translations.Translations, translations))
      assert.deepStrictEqual(yield* labels, ["Drucken", "Drucken"])
      current = yield* read("Pressen")
      assert.deepStrictEqual(yield* labels, ["Pressen", "Pressen"])
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, shopTokens("EdDSA")])))
})

describe("a 400 / memory", () => {
  it.layer(served(translated(["en", "de", "de-CH"])))((it) => {
    it.effect("reports problems in the request's language, with the arguments of the validators", () =>
      Effect.gen(function*() {
        const input = {
          name: "",
          secret: "canary",
          price: 1234.5,
          count: 1.5,
          kind: "huge",
          made: "gestern",
          tags: ["a", "b", "long"],
          place: {},
          places: [{ city: "Bern" }, { city: "" }, 3]
        }
        const answer = yield* send("POST", "/items", "de-DE, en;q=0.5", input)
        assert.deepStrictEqual([answer.status, answer.language, answer.vary], [400, "de", "Accept-Language, Accept"])
        assert.deepStrictEqual(messages(answer), {
          "name": "„Bezeichnung“ muss mindestens 3 Zeichen haben",
          "secret": "„Geheimnis“ muss mindestens 8 Zeichen haben",
          "price": "„Preis“ höchstens 1.000 Franken",
          "count": "„Count“ keine ganze Zahl",
          "kind": "„Art“ nur big, small",
          "made": "„Made“ kein Datum",
          "tags.2": "„Schlagwörter (Eintrag 3)“ höchstens 3",
          "place.city": "„Ort“ fehlt",
          "places.1.city": "„Ort (Eintrag 2)“ darf nicht leer sein",
          "places.2": "„Orte (Eintrag 3)“ kein object"
        })
        assert.include(answer.body.message, "11 Fehler: ")
        assert.include(answer.body.message, "„Bezeichnung“ darf nicht leer sein; ")
        assert.include(answer.body.message, "„Ort“ fehlt")
        assert.include(answer.body.message, "„Count“ keine ganze Zahl")
        assert.notInclude(answer.text, "canary")
        assert.deepStrictEqual(Object.keys(answer.body), ["_type", "code", "message", "errors"])
        for (const problem of answer.body.errors) {
          assert.deepStrictEqual(Object.keys(problem), ["field", "validator", "message"])
        }
      }))

    it.effect("has the arguments of rules in groups, and is in English where there is none", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(messages(yield* send("POST", "/ruleds", "de", { grouped: "a", named: { a: 1 } })), {
          "grouped": "„Grouped“ muss mindestens 2 Zeichen haben",
          "named.a": "„A“ must have a length of at least 2"
        })
      }))

    it.effect("counts in the plural of the language", () =>
      Effect.gen(function*() {
        const tags = yield* send("POST", "/items", "de", { ...valid, tags: ["a", "b"] })
        assert.deepStrictEqual(messages(tags), { tags: "„Schlagwörter“ höchstens ein Eintrag" })
        assert.strictEqual(tags.body.message, "Ein Fehler: „Schlagwörter“ höchstens ein Eintrag")
        const { body } = yield* send("POST", "/items", "de", valid)
        const price = yield* send("PATCH", `/items/${body.result}`, "de", { price: -1 })
        assert.deepStrictEqual(messages(price), { price: "„Preis“ Preis muss mindestens 0 sein" })
      }))

    it.effect("is in English if a catalogue has no message, and in the region's language if it has one", () =>
      Effect.gen(function*() {
        const english = yield* send("POST", "/items", "en", { ...valid, name: "" })
        assert.strictEqual(english.language, "en")
        assert.strictEqual(
          english.body.message,
          "The request is not valid: Name must not be empty; Name must have at least 3 characters"
        )
        const swiss = yield* send("POST", "/items", "de-CH", { ...valid, place: { city: "" }, price: 2_000 })
        assert.strictEqual(swiss.language, "de-CH")
        assert.deepStrictEqual(messages(swiss), {
          "place.city": "„Ort“ darf nöd leer sii",
          "price": `„Preis“ höchstens ${new Intl.NumberFormat("de-CH").format(1_000)} Franken`
        })
      }))

    it.effect("keeps the message of a custom schema", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(messages(yield* send("POST", "/items", "de", { ...valid, note: "rude" })), {
          note: "„Note“ is rude"
        })
        assert.deepStrictEqual(messages(yield* send("POST", "/items", "de", { ...valid, note: 3 })), {
          note: "„Note“ kein str"
        })
      }))

    it.effect("uses the argument of the broken validator", () =>
      Effect.gen(function*() {
        const { body } = yield* send("POST", "/mugs", "de", { size: 3 })
        assert.strictEqual(body.message, "Ein Fehler: „Größe“ Größe muss mindestens 5 sein")
      }))

    it.effect("finds the label at any depth of a recursive model", () =>
      Effect.gen(function*() {
        let crate: object = { title: "" }
        for (let depth = 0; depth < 100; depth++) crate = { title: "x", inner: crate }
        const { body } = yield* send("POST", "/crates", "de", crate)
        assert.strictEqual(body.errors[0].field, `${"inner.".repeat(100)}title`)
        assert.strictEqual(body.message, "Ein Fehler: „Kistenname“ darf nicht leer sein")
      }))

    it.effect("translates the problems of rules over several fields", () =>
      Effect.gen(function*() {
        const answer = yield* send("POST", "/items", "de", { ...valid, kind: "small", price: 600 })
        assert.deepStrictEqual([answer.status, answer.language], [400, "de"])
        assert.deepStrictEqual(messages(answer), { price: "„Preis“ für kleine unter 500" })
      }))

    it.effect("describes parameters, identifiers and bodies that are no objects", () =>
      Effect.gen(function*() {
        const list = yield* send("GET", "/items?page_size=5000&nope=1&price=cheap&kind=huge", "de")
        assert.deepStrictEqual([list.status, list.language], [400, "de"])
        assert.deepStrictEqual(messages(list), {
          page_size: "„page_size“ von 1 bis 1.000",
          nope: "„nope“ kenne ich nicht",
          price: "„Preis“ nimmt das nicht",
          kind: "„Art“ nimmt das nicht"
        })
        const id = yield* send("POST", "/items", "de", { ...valid, id: "meta" })
        assert.deepStrictEqual(messages(id), { id: "„Id“ geht nicht in einer URL" })
        const other = yield* send("PUT", "/items/I1", "de", { ...valid, id: "I2" })
        assert.deepStrictEqual(messages(other), { id: "„Id“ ist nicht die der URL" })
        const whole = yield* send("POST", "/items", "de", 7)
        assert.deepStrictEqual(messages(whole), { "": "Inhalt: kein object" })
        assert.strictEqual(whole.body.message, "Ein Fehler: Inhalt: kein object")
        const malformed = yield* send("POST", "/items", "de", "{")
        assert.deepStrictEqual([malformed.status, malformed.language, malformed.body.errors], [400, "de", []])
        assert.match(malformed.body.message, /^Der Inhalt ist kein gültiges JSON: /)
      }))

    it.effect("is the only translated response of the resource", () =>
      Effect.gen(function*() {
        const page = yield* send("GET", "/items", "de")
        assert.deepStrictEqual([page.status, page.language, page.vary], [200, undefined, undefined])
      }))
  })
})

describe("without languages / memory", () => {
  it.layer(served(translated([])))((it) => {
    it.effect("nothing is translated and no header is added", () =>
      Effect.gen(function*() {
        const meta = yield* send("GET", "/items/meta", "de")
        assert.deepStrictEqual([meta.language, meta.vary, meta.body.name.label], [undefined, undefined, "Item.name"])
        const bad = yield* send("POST", "/items", "de", { ...valid, name: "ab" })
        assert.deepStrictEqual([bad.status, bad.language, bad.vary], [400, undefined, "Accept"])
        assert.strictEqual(bad.body.message, "The request is not valid: Name must have at least 3 characters")
      }))
  })
})

describe("the schema / memory", () => {
  it.layer(served(translated(["de"])))((it) => {
    it.effect("is served in the form that the parameters select", () =>
      Effect.gen(function*() {
        for (const mongo of [undefined, true, false]) {
          for (const open of [undefined, true, false]) {
            const query = [
              ...(mongo === undefined ? [] : [`mongo=${mongo}`]),
              ...(open === undefined ? [] : [`additional_properties=${open}`])
            ].join("&")
            const { body, status } = yield* send("GET", `/items/schema?${query}`)
            const schema = Model.jsonSchema(Item, { additionalProperties: open, mongoCompatibility: mongo })
            assert.deepStrictEqual([status, body], [200, JSON.parse(JSON.stringify(schema))], query)
          }
        }
        assert.isFalse((yield* send("GET", "/mugs/schema?additional_properties=false")).body.additionalProperties)
        assert.include((yield* send("GET", "/mugs/schema?mongo=true")).text, "bsonType")
      }))

    it.effect("rejects other values and other parameters, naming each", () =>
      Effect.gen(function*() {
        const answer = yield* send(
          "GET",
          "/items/schema?mongo=maybe&additional_properties=true&additional_properties=false&name=x&__proto__=true"
        )
        assert.deepStrictEqual([answer.status, answer.language], [400, "de"])
        assert.deepStrictEqual(
          messages(answer),
          JSON.parse(JSON.stringify({
            mongo: "„mongo“ true oder false",
            additional_properties: "„additional_properties“ true oder false",
            name: "„name“ kenne ich nicht",
            ["__proto__"]: "„__proto__“ kenne ich nicht"
          }))
        )
      }))
  })
})

describe("translations", () => {
  const failure = (files: { readonly [language: string]: unknown }, languages: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      const path = yield* folderOf(files)
      const error = yield* Effect.flip(Translations.make({ path, languages }))
      assert.strictEqual(error._tag, "TranslationsInvalid")
      return error.message.replace(path, "…")
    }).pipe(Effect.provide(NodeServices.layer))

  it.effect("fail the start with their problems and positions", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<readonly [unknown, string]> = [
        ["{", "…/de.json: it is no JSON: "],
        [[], "…/de.json: it is no object of texts"],
        ["\"text\"", "…/de.json: it is no object of texts"],
        [{ "Item.name": 3 }, "…/de.json, Item.name: it is neither a text nor an object of texts"],
        [{ Item: { name: ["x"] } }, "…/de.json, Item.name: it is neither a text nor an object of texts"],
        [{ "Item.name": "a", "Item": { name: "b" } }, "…/de.json, Item.name: it is there twice"],
        [{ validators: { Min: "ab {value" } }, "…/de.json, validators.Min: it is no ICU message: "],
        [
          { validators: { Min: "{value, plural, one {x}}" } },
          "…/de.json, validators.Min: it is no ICU message: missing other clause at character 24"
        ],
        [
          { "validators.Min@Item.price": "{type, select, other {{price}}}" },
          "…/de.json, validators.Min@Item.price: there is no argument {price}, only {label}, {field}, {type}, {value}"
        ],
        [{ "Item.name": "{value}" }, "…/de.json, Item.name: it takes no arguments, so {value} is not there"]
      ]
      for (const [content, expected] of cases) {
        const message = yield* failure({ de: content }, ["de"])
        assert.include(message, `Can't translate to "de": ${expected}`)
      }
    }))

  it.effect("fail the start for a language without a file, and for an invalid language", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* failure({ de: {} }, ["de", "fr"]),
        `Can't translate to "fr": …/fr.json: there is no such file`
      )
      for (const language of ["de_CH", "*", "../../etc/passwd", "e"]) {
        assert.strictEqual(
          yield* failure({ de: {} }, ["de", language]),
          `Can't translate to "${language}": it is no tag of a language, such as en or de-CH (BCP 47)`
        )
      }
    }))

  it.effect("report problems of the base language with its file", () =>
    Effect.gen(function*() {
      const message = yield* failure({ "de-CH": {}, "de": { "Item.name": "{" } }, ["de-CH"])
      assert.include(message, `Can't translate to "de-CH": …/de.json, Item.name: it is no ICU message`)
    }))

  it.effect("are named by the configuration", () =>
    Effect.gen(function*() {
      const path = yield* folderOf(catalogues)
      const languagesWith = (env: { readonly [name: string]: string }) =>
        Effect.gen(function*() {
          const { languages } = yield* Translations.Translations
          return languages.map(({ tag }) => tag)
        }).pipe(
          Effect.provide(Translations.layer),
          Effect.provide([NodeServices.layer, ConfigProvider.layer(ConfigProvider.fromEnv({ env }))])
        )
      const env = { APPKERNEL_I18N_PATH: path, APPKERNEL_I18N_LANGUAGES: "en, DE-ch,de,en" }
      assert.deepStrictEqual(yield* languagesWith(env), ["en", "de-CH", "de"])
      assert.deepStrictEqual(yield* languagesWith({}), [])
      assert.deepStrictEqual(yield* languagesWith({ APPKERNEL_I18N_LANGUAGES: "" }), [])
      // These come with the package.
      assert.deepStrictEqual(yield* languagesWith({ APPKERNEL_I18N_LANGUAGES: "en,de-AT" }), ["en", "de-AT"])
      const missing = yield* Effect.flip(languagesWith({ APPKERNEL_I18N_LANGUAGES: "fr" }))
      assert.include(String(missing), "./translations/fr.json: there is no such file")
    }))

  it.effect("return no text for a message whose arguments don't fit", () =>
    Effect.gen(function*() {
      const path = yield* folderOf({
        de: { validators: { Odd: "{value, date}", Max: "höchstens {value, number} <b>" } }
      })
      const { languageOf } = yield* Translations.make({ path, languages: ["de"] })
      const language = languageOf("de")
      assert.isUndefined(language?.text("validators.Odd", { value: "no date" }))
      assert.isUndefined(language?.text("validators.Max"))
      assert.isUndefined(language?.text("toString"))
      assert.strictEqual(language?.text("validators.Max", { value: 1_000 }), "höchstens 1.000 <b>")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("fail the start of a service in one clear line", () =>
    Effect.gen(function*() {
      const launched = KernelEngine.make("translated").launch(served(translated(["de"], { de: { "Item.name": "{" } })))
      const error = yield* Effect.flip(launched)
      assert.strictEqual(error._tag, "StartFailed")
      assert.match(error.message, /^Can't translate to "de": .*de\.json, Item\.name: it is no ICU message: .*$/)
    }).pipe(Effect.provide(NodeServices.layer)))
})

describe("the shop / memory", () => {
  const served = shop.layerServe.pipe(
    Layer.provide([shopTranslations, payments]),
    Layer.provideMerge(credentials),
    Layer.provide(EmbeddedStore.layerMemory),
    Layer.provide(NodeServices.layer),
    Layer.provideMerge(NodeHttpServer.layerTest)
  )

  it.layer(served)((it) => {
    it.effect("has labels for all its fields in English and German", () =>
      Effect.gen(function*() {
        const admin = yield* administrator
        for (const language of ["en", "de"]) {
          for (const resource of ["users", "products", "orders"]) {
            const answer = yield* send("GET", `/api/v1/${resource}/meta`, language, undefined, admin)
            assert.strictEqual(answer.language, language)
            const labels = [...answer.text.matchAll(/"label":"([^"]*)"/g)].map(([, label]) => label)
            assert.isAbove(labels.length, 4)
            for (const label of labels) assert.notMatch(label ?? "", /^$|\w\.\w/, `${language} ${resource}`)
          }
        }
      }))

    it.effect("describes the problems of a product in German", () =>
      Effect.gen(function*() {
        const answer = yield* send("POST", "/api/v1/products", "de-CH,de;q=0.9", {
          code: "x",
          name: "n".repeat(201),
          price: -1,
          currency: "DM",
          stock: 1.5,
          dimensions: { width: "breit", height: 1 }
        }, yield* administrator)
        assert.deepStrictEqual(messages(answer), {
          "code":
            "Artikelnummer: drei Großbuchstaben, ein Bindestrich und vier Ziffern erwartet, zum Beispiel ABC-1234",
          "name": "Name: höchstens 200 Zeichen erlaubt",
          "price": "Preis: mindestens 0 erwartet",
          "currency": "Währung: einer dieser Werte erwartet: CHF, EUR, USD",
          "stock": "Lagerbestand: ganze Zahl erwartet",
          "dimensions.width": "Breite: Zahl erwartet",
          "dimensions.depth": "Tiefe: Angabe fehlt"
        })
        assert.match(answer.body.message, /^Die Anfrage ist nicht gültig: Artikelnummer: drei /)
        assert.include(answer.body.message, "Währung: einer dieser Werte erwartet: CHF, EUR, USD")
      }))

    it.effect("describes them in English", () =>
      Effect.gen(function*() {
        const answer = yield* send("POST", "/api/v1/users", undefined, {
          name: "",
          email: "ada@example.com",
          password: "secretive"
        })
        assert.strictEqual(answer.body.message, "The request is not valid: Name must not be empty")
      }))
  })
})
