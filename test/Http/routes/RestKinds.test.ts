/** Fields of any kind of schema: what is sent is stored, shown, found, put in order, changed, kept and described. */
import { assert, it } from "@effect/vitest"
import Ajv04 from "ajv-draft-04"
import { Arbitrary, Effect, Order, Schema, SchemaAST } from "effect"
import { KernelEngine, Model, Repository } from "../../../src/index.ts"
import { type Kind, kinds } from "../../support/everyKind.ts"
import { quoted } from "../../support/quoted.ts"
import { type Answer, refused, send, serving } from "../../support/rest.ts"
import { storeMatrix } from "../../support/storeMatrix.ts"

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const modelOf = (name: string, { schema }: Kind) =>
  class extends Model.Class<{ readonly id: string; readonly value: unknown }>()(`Kind${name}`, {
    id: Model.id(),
    value: schema,
    note: Schema.String.pipe(Model.optional),
    ...Model.historied
  }) {}

const resources = Object.entries(kinds).map(([name, kind]) => ({ name, kind, model: modelOf(name, kind) }))

const optionsOf = (name: string) => ({ methods, name: name, segment: name })

const [first, ...others] = resources

const engine = others.reduce(
  (engine, { model, name }) => engine.register(model, optionsOf(name)),
  KernelEngine.make("kinds").register(first!.model, optionsOf(first!.name))
)

const asked = (status: number, ...request: Parameters<typeof send>) =>
  Effect.map(send(...request), (answer): Answer => {
    assert.strictEqual(
      answer.status,
      status,
      `${request[0]} ${request[1]} ${JSON.stringify(request[2])}: ${answer.text}`
    )
    return answer
  })

/** Without what no body can have: lone surrogates, negative zeros; and without years that a server may not have. */
const sendable = (body: object): object =>
  JSON.parse(
    JSON.stringify(body).replace(/\\u(?:0000|d[89a-f]..)/giu, "x").replace(/(?:[+-]\d{6}|0000)(-\d\d-\d\d)/gu, "2000$1")
      // The zones of old had offsets that their text does not tell.
      .replace(/\d{4}(-[^"]*\[)/gu, "2000$1")
  )

/** A value as a filter, or nothing where it can't be written as one. */
const termOf = (json: unknown): string | undefined =>
  typeof json === "string"
    ? quoted(json)
    : typeof json === "number" || typeof json === "boolean"
    ? String(json)
    : undefined

const filter = (path: string, value: string) => `${path}?value=${encodeURIComponent(value)}&page_size=1000`

// One for all, since each compiles the schema of schemas.
const ajv = new Ajv04.default({ strict: false, validateFormats: false, code: { optimize: false } })

storeMatrix((name, store) =>
  it.layer(serving(engine, store), { excludeTestServices: true })(`fields of every kind / ${name}`, (it) => {
    it.effect("values that the store does not support are a 400, and nothing is written", () =>
      Effect.gen(function*() {
        const wrong: ReadonlyArray<readonly [name: string, value: unknown]> = [
          ["bigint", "9223372036854775808"],
          ["map", [["a", "-9223372036854775809"]]],
          ["bigDecimal", "1.2345678901234567890123456789012345"],
          ["bigDecimal", "1e7000"],
          ["class", { amount: "1e-7000", currency: "CHF" }],
          ["byteSize", "9223372036854775808"],
          ["dateTimeUtc", "yesterday"],
          ["objectId", "x"],
          ["bytes", "?"]
        ]
        for (const [name, value] of wrong) {
          const answer = refused(400, yield* send("POST", `/${name}`, { value }))
          assert.match(answer.body.errors[0].field, /^value/u)
          assert.isEmpty((yield* asked(200, "GET", `/${name}`)).body._items)
        }
      }))

    const runs = Number(process.env["KIND_RUNS"] ?? 1)
    for (const { kind, model, name } of resources) {
      const path = `/${name}`
      // Fields are plain codecs.
      const schema = kind.schema as unknown as Schema.Codec<unknown>
      // Those that can be stored, too.
      const struct = Schema.toCodecJson(Schema.Struct({ value: schema }))
      const bodyOf = (value: unknown): object =>
        value === undefined ? {} : Object(Schema.encodeUnknownSync(struct)({ value }))
      const values = Arbitrary.map(Arbitrary.schema(Schema.toType(model.store.fields.value)), (value) => {
        if (value === undefined) return undefined
        const { value: sent } = Object(Schema.decodeUnknownSync(struct)(sendable(bodyOf(value))))
        return sent
      })
      const toJson = (value: unknown): unknown => Reflect.get(bodyOf(value), "value")
      const mayBeMissing = SchemaAST.isOptional(schema.ast) ||
        schema.ast._tag === "Union" && Schema.is(schema)(undefined)
      let isDescribed: ReturnType<Ajv04.default["compile"]> | undefined
      const idOf = (answer: Answer): string => answer.body.result

      it.effect.prop(
        `${name}: sent values are returned, found, changed and kept`,
        [values, values],
        ([value, other]) =>
          Effect.gen(function*() {
            const repository = yield* Repository.for(model)
            const body = bodyOf(value)
            const id = idOf(yield* asked(201, "POST", path, body))
            const second = idOf(yield* asked(201, "POST", path, bodyOf(other)))

            const shown = yield* asked(200, "GET", `${path}/${id}`)
            assert.deepStrictEqual(shown.body.value, Reflect.get(body, "value"))
            const list = yield* asked(200, "GET", `${path}?page_size=1000`)
            const shownIn = (answer: Answer, id: string) =>
              answer.body._items.find((item: { id: string }) => item.id === id)
            assert.deepStrictEqual(shownIn(list, id), shown.body)

            const instance = yield* repository.findById(id)
            assert.deepStrictEqual(bodyOf(Reflect.get(instance, "value")), body)

            isDescribed ??= ajv.compile((yield* asked(200, "GET", `${path}/schema`)).body)
            assert.isTrue(isDescribed(shown.body), `${shown.text} ${JSON.stringify(isDescribed.errors)}`)

            // Every value can be looked for that has a short form; of others, that is said.
            const terms = [value, other].map((one) => Array.isArray(toJson(one)) ? toJson(one) : [toJson(one)])
              .map((all) => (all as ReadonlyArray<unknown>)[0])
              .map(termOf)
            const [term, otherTerm] = terms
            if (kind.isFilterable === false) {
              refused(400, yield* send("GET", filter(path, "x")))
            } else if (kind.isFilterable !== "unclear" && term !== undefined && otherTerm !== undefined) {
              const found = yield* asked(200, "GET", filter(path, term))
              assert.isDefined(shownIn(found, id), `${term} ${found.text}`)
              const both = yield* asked(200, "GET", filter(path, `[${term},${otherTerm}]`))
              assert.isDefined(shownIn(both, id))
              assert.isDefined(shownIn(both, second))
              const without = yield* asked(200, "GET", filter(path, `!${term}`))
              assert.isUndefined(shownIn(without, id))
            }
            if (kind.order !== undefined && term !== undefined) {
              const isAfter = Order.isGreaterThan(kind.order as Order.Order<unknown>)(other, value)
              const after = yield* asked(200, "GET", filter(path, `>${term}`))
              assert.strictEqual(shownIn(after, second) !== undefined, isAfter, `${String(other)} > ${String(value)}`)
              const upTo = yield* asked(200, "GET", filter(path, `<=${term}`))
              assert.strictEqual(shownIn(upTo, second) !== undefined, !isAfter)
              const sorted = yield* asked(200, "GET", `${path}?sort_by=value&page_size=1000`)
              const places = [id, second].map((id) =>
                sorted.body._items.findIndex((item: { id: string }) => item.id === id)
              )
              if (isAfter) assert.isBelow(places[0], places[1])
            }

            yield* asked(200, "PATCH", `${path}/${id}`, { note: "n" })
            assert.deepStrictEqual((yield* asked(200, "GET", `${path}/${id}`)).body, { ...shown.body, note: "n" })
            yield* asked(200, "PUT", `${path}/${id}`, bodyOf(other))
            const put = yield* asked(200, "GET", `${path}/${id}`)
            const { value: _, ...rest } = shown.body
            assert.deepStrictEqual(put.body, { ...rest, ...bodyOf(other) })

            const json = Reflect.get(body, "value")
            const isMerged = typeof json === "object" && json !== null && !Array.isArray(json)
            if (json !== undefined && json !== null && !isMerged) {
              yield* asked(200, "PATCH", `${path}/${id}`, body)
              assert.deepStrictEqual((yield* asked(200, "GET", `${path}/${id}`)).body, shown.body)
            }
            if (mayBeMissing) {
              yield* asked(200, "PATCH", `${path}/${id}`, { value: null })
              assert.notProperty((yield* asked(200, "GET", `${path}/${id}`)).body, "value")
            }

            const [, ...states] = (yield* repository.history(id)).toReversed()
            assert.isNotEmpty(states)
            const oldest = yield* repository.history.at(id, { revision: 1 })
            assert.isTrue(oldest._tag === "Some")
            if (oldest._tag === "Some") {
              assert.deepStrictEqual(bodyOf(Reflect.get(yield* oldest.value.instance, "value")), body)
            }
            yield* asked(200, "DELETE", `${path}/${id}`)
            yield* asked(200, "DELETE", `${path}/${second}`)
          }),
        { arbitrary: { runs } }
      )
    }
  })
)
