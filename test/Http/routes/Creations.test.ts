/** `POST` of identifiers that are taken, where it may only create: of any kind of model, body and version. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { Index, KernelConfig, KernelEngine, Model, Resource } from "../../../src/index.ts"
import { atOnce, refused, send, serving, statusesOf } from "../../support/rest.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"

const title = Schema.String

class Scrap extends Model.Class<Scrap>()("Scrap", { id: Model.id(), title }) {}

class Booking extends Model.Class<Booking>()("Booking", {
  id: Model.id(),
  title,
  code: Schema.String.pipe(Model.indexed(Index.unique), Model.optional),
  ...Model.versioned,
  ...Model.audited
}) {}

class Bin extends Model.Class<Bin>()("Bin", { id: Model.id(), title, ...Model.softDeleted }) {}

class Renamed extends Model.Class<Renamed>()("Renamed", { id: Model.id(), heading: title, ...Model.versioned }, {
  versions: [Model.was.renamed("title", "heading")]
}) {}

class Hooked extends Model.Class<Hooked>()("Hooked", { id: Model.id(), title, ...Model.versioned }) {}

const methods = ["GET", "POST", "DELETE"] as const

const creating = { methods, onKnownId: "error" } as const

const engine = KernelEngine.make("creations")
  .register(Scrap, creating)
  .register(Scrap, { methods, segment: "replaced", name: "replaced", onKnownId: "replace" })
  .register(Scrap, { methods, segment: "configured", name: "configured" })
  .register(Booking, creating)
  .register(Bin, creating)
  .register(Renamed, { ...creating, urlBase: "/v1", name: "old", form: 1 })
  .register(Renamed, { ...creating, urlBase: "/v2" })
  .register(
    Resource.make(Hooked, { methods, transactional: true }).beforePost((hooked) => Effect.succeed(hooked)),
    { onKnownId: "error" }
  )

/** The paths, with the name of the title there. */
const paths: ReadonlyArray<readonly [path: string, title: string]> = [
  ["/scraps", "title"],
  ["/bookings", "title"],
  ["/bins", "title"],
  ["/v1/renameds", "title"],
  ["/v2/renameds", "heading"],
  ["/hookeds", "title"]
]

const configured = (onKnownId: "replace" | "error") =>
  Layer.succeed(KernelConfig.Limits, { ...KernelConfig.Limits.defaultValue(), onKnownId })

const formOf = (fields: { readonly [name: string]: string }) =>
  `${
    Object.entries(fields).map(([name, value]) =>
      `--XX\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
    ).join("")
  }--XX--\r\n`

const multipart = { "content-type": "multipart/form-data; boundary=XX" }

storeMatrix((name, store) => {
  it.layer(serving(engine, store), { excludeTestServices: true })(`creations / ${name}`, (it) => {
    it.effect.each(paths)(
      "POST of a known identifier to %s is a 409, whatever its body is",
      ([path, field]) =>
        Effect.gen(function*() {
          const id = `K${path.replaceAll("/", "-")}`
          const first = yield* send("POST", path, { id, [field]: "first" })
          assert.strictEqual(first.status, 201, first.text)
          const stored = (yield* send("GET", `${path}/${id}`)).text
          const taken = { id, [field]: "other" }
          const answers = [
            yield* send("POST", path, taken),
            yield* send("POST", path, { id, [field]: "first" }),
            yield* send("POST", path, taken, { prefer: "return=representation" }),
            yield* send("POST", path, [{ id: "free", [field]: "other" }, taken]),
            yield* send("POST", path, formOf(taken), multipart)
          ]
          assert.deepStrictEqual(
            statusesOf(answers),
            { 409: answers.length },
            answers.map(({ text }) => text).join("\n")
          )
          refused(412, yield* send("POST", path, taken, { "if-none-match": "*" }))
          refused(412, yield* send("POST", path, { ...taken, id: "free" }, { "if-match": "*" }))
          assert.strictEqual((yield* send("GET", `${path}/${id}`)).text, stored)
          refused(404, yield* send("GET", `${path}/free`))
          assert.strictEqual((yield* send("POST", path, formOf({ ...taken, id: `form ${id}` }), multipart)).status, 201)
        })
    )

    it.effect.each(paths)(
      "one of many concurrent creators at %s succeeds, with its own document",
      ([path, field]) =>
        Effect.gen(function*() {
          for (let round = 0; round < 4; round++) {
            const id = `race-${path.replaceAll("/", "-")}-${round}`
            const answers = yield* atOnce(8, (i) =>
              i % 2 === 0
                ? send("POST", path, { id, [field]: `${i}` }, { prefer: "return=representation" })
                : send("POST", path, [{ id, [field]: `${i}` }]))
            assert.deepStrictEqual(statusesOf(answers), { 201: 1, 409: 7 })
            const winner = answers.findIndex(({ status }) => status === 201)
            assert.strictEqual((yield* send("GET", `${path}/${id}`)).body[field], `${winner}`)
          }
        })
    )

    it.effect("another unique value that is taken is told from the identifier", () =>
      Effect.gen(function*() {
        yield* send("POST", "/bookings", { id: "coded", title: "x", code: "taken" })
        const code = refused(409, yield* send("POST", "/bookings", { id: "another", title: "x", code: "taken" }))
        const id = refused(409, yield* send("POST", "/bookings", { id: "coded", title: "x", code: "taken" }))
        assert.deepStrictEqual([code, id].map(({ body }) => body.message), [
          "There is another Booking with the same Code",
          "There is another Booking with the same Id"
        ])
      }))
  })

  for (const onKnownId of ["replace", "error"] as const) {
    it.layer(Layer.provide(serving(engine, store), configured(onKnownId)), { excludeTestServices: true })(
      `creations by configuration: ${onKnownId} / ${name}`,
      (it) =>
        it.effect("say it for registrations that do not", () =>
          Effect.gen(function*() {
            for (const [path, status] of [["/scraps", 409], ["/replaced", 200], ["/configured", undefined]] as const) {
              const id = path.slice(1)
              assert.strictEqual((yield* send("POST", path, { id, title: "first" })).status, 201)
              const answer = yield* send("POST", path, { id, title: "second" })
              const expected = status ?? (onKnownId === "error" ? 409 : 200)
              assert.strictEqual(answer.status, expected, answer.text)
              assert.strictEqual(
                (yield* send("GET", `${path}/${id}`)).body.title,
                expected === 409 ? "first" : "second"
              )
            }
          }))
    )
  }
})
