/** What a codec makes of a value may be nothing that a store takes: that is said, and never a defect. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema, SchemaGetter } from "effect"
import { KernelEngine, Marshaller, Model, Repository } from "../../../src/index.ts"
import { fieldsIn, send, serving } from "../../support/rest.ts"
import { routeStores } from "../../support/storeMatrix.ts"

class Instance {
  readonly x = 1
  toBSON(): never {
    return assert.fail("a store must not ask it")
  }
}

const cyclic: { self?: unknown } = {}
cyclic.self = cyclic

const deep = (levels: number): unknown => levels === 0 ? 1 : { a: deep(levels - 1) }

/** What the codec makes of each name; what is not among them is stored as it is. */
const odd: { readonly [name: string]: unknown } = {
  function: () => 1,
  symbol: Symbol("s"),
  undefined,
  cyclic,
  instance: new Instance(),
  map: new Map([["a", 1]]),
  date: new Date(Number.NaN),
  nan: Number.NaN,
  infinity: Number.POSITIVE_INFINITY,
  bigint: 2n ** 200n,
  deep: deep(5_000),
  "function within": { a: [() => 1] },
  "symbol within": [{ a: Symbol("s") }],
  "cyclic within": { a: [cyclic] },
  "bigint within": { a: 2n ** 200n },
  "instance within": [new Instance()]
}

const through = (stored: Schema.Codec<unknown>): Marshaller.Marshaller<Schema.Codec<string, unknown>, Schema.String> =>
  Marshaller.make({
    store: stored.pipe(Schema.decodeTo(Schema.String, {
      decode: SchemaGetter.transform((value: unknown) => String(value)),
      encode: SchemaGetter.transform((name: string) => Object.hasOwn(odd, name) ? odd[name] : name)
    })),
    wire: Schema.String
  })

const part = Schema.Union([Schema.String, Schema.Unknown])

// oxlint-disable-next-line typescript/no-explicit-any -- a program's own schema may say that anything is stored
const anything: Schema.Codec<any> = Schema.Any

const make = (name: string, stored: Schema.Codec<unknown>) =>
  class extends Model.Class<{ readonly id: string; readonly value: string }>()(name, {
    id: Model.id(),
    value: Schema.String.pipe(Model.marshalled(through(stored)))
  }) {}

const models = [make("Unknowing", Schema.Unknown), make("Anything", anything), make("Either", part)]

const methods = ["GET", "POST", "PUT", "PATCH"] as const

const [first, ...others] = models

const engine = others.reduce(
  (engine, model) => engine.register(model, { methods, name: model.modelName, segment: model.modelName }),
  KernelEngine.make("unstorable").register(first!, { methods, name: first!.modelName, segment: first!.modelName })
)

routeStores((name, store) =>
  it.layer(serving(engine, store), { excludeTestServices: true })(`what can't be stored / ${name}`, (it) => {
    for (const model of models) {
      const path = `/${model.modelName}`

      it.effect(`of ${model.modelName} is a 400 in every write`, () =>
        Effect.gen(function*() {
          const { result } = (yield* send("POST", path, { value: "a" })).body
          const one = `${path}/${result}`
          for (const value of Object.keys(odd)) {
            const sent = { value }
            for (
              const [method, where, body, headers] of [
                ["POST", path, sent, {}],
                ["POST", path, { ...sent, id: "X" }, {}],
                ["POST", path, { ...sent, id: result }, {}],
                ["POST", path, [sent], {}],
                ["PUT", one, sent, {}],
                ["PATCH", one, sent, {}],
                ["PATCH", one, [{ op: "replace", path: "/value", value }], {
                  "content-type": "application/json-patch+json"
                }]
              ] as const
            ) {
              const answer = yield* send(method, where, body, headers)
              assert.strictEqual(answer.status, 400, `${method} ${value} ${answer.text}`)
              assert.match(fieldsIn(answer).join(), /^(?:0\.)?value$/u)
              assert.match(answer.body.message, /can be stored/u)
            }
            assert.strictEqual((yield* send("GET", one)).body.value, "a")
          }
          assert.strictEqual((yield* send("GET", path)).body._items.length, 1)
        }))

      it.effect(`of ${model.modelName} is a typed failure of a repository`, () =>
        Effect.gen(function*() {
          const repository = yield* Repository.for(model)
          yield* repository.insert(new model({ id: "K", value: "a" }))
          for (const value of Object.keys(odd)) {
            const instance = new model({ id: "K", value }, { disableChecks: true })
            for (
              const write of [
                Effect.asVoid(repository.insert(instance)),
                Effect.asVoid(repository.save(instance)),
                Effect.asVoid(repository.replace(instance)),
                Effect.asVoid(repository.patch("K", { value })),
                Effect.asVoid(repository.modify("K", () => Effect.succeed(instance))),
                Effect.asVoid(repository.updateMany(undefined, ($) => [$.value.set(value)]))
              ]
            ) {
              const error = yield* Effect.flip(write)
              assert.strictEqual(error._tag, "ValidationException", value)
            }
          }
          yield* repository.deleteById("K")
        }))
    }
  })
)
