import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import {
  Converter,
  DocumentStore,
  EmbeddedStore,
  Generator,
  Model,
  ModelError,
  Repository,
  Validator
} from "../../../src/index.ts"

const Kinds = ["rename", "split", "join", "retype", "optional", "nested", "add", "same"] as const

type Kind = typeof Kinds[number]

class Inner extends Model.Class<Inner>()("Inner", { n: Schema.Int.pipe(Validator.max(3)) }) {}

class Rest extends Model.Class<Rest>()("Rest", { n: Schema.String.pipe(Validator.max(2)) }) {}

const numberOf = (text: unknown): unknown => text === "" ? "none" : Number(text)

/** The fields of one change in the newest form, what it was, and its ways; some ways fail, and some give what does not fit. */
const changeOf = (kind: Kind, i: number, isConverted: boolean) => {
  const [a, b] = [`a${i}`, `b${i}`]
  const short = Schema.String.pipe(Validator.max(3))
  const text = isConverted ? short.pipe(Model.converted(Converter.lowerCase)) : short
  const refusing = (value: unknown) => {
    if (value === "X") throw new RangeError("no way")
    return value
  }
  const got = (values: unknown, name: string): unknown => Reflect.get(Object(values), name)
  switch (kind) {
    case "rename":
      return { fields: { [b]: text }, version: Model.was.renamed(a, b), before: [a] }
    case "split":
      return {
        fields: { [a]: text, [b]: text },
        version: Model.was.replaced([a, b] as never, { [`w${i}`]: Schema.String }, {
          up: (values) => {
            const [first, ...rest] = String(got(values, `w${i}`)).split(" ")
            return { [a]: refusing(first), [b]: rest.join(" ") }
          },
          down: (values) => ({ [`w${i}`]: `${String(got(values, a))} ${String(got(values, b))}` })
        }),
        before: [`w${i}`]
      }
    case "join":
      return {
        fields: { [`w${i}`]: text },
        version: Model.was.replaced([`w${i}`] as never, { [a]: Schema.String, [b]: Schema.String }, {
          up: (values) => ({ [`w${i}`]: `${String(got(values, a))}${String(got(values, b))}` }),
          down: (values) => ({ [a]: String(got(values, `w${i}`)), [b]: "" })
        }),
        before: [a, b]
      }
    case "retype":
      return {
        fields: { [a]: Schema.Int.pipe(Validator.max(5)) },
        version: Model.was.retyped(a as never, Schema.String, {
          up: (value) => refusing(numberOf(value)) as never,
          down: String
        }),
        before: [a]
      }
    case "optional":
      return {
        fields: { [a]: text.pipe(Model.optional) },
        version: Model.was.madeOptional(a as never, { down: () => "no" as never }),
        before: [a]
      }
    case "nested":
      return {
        fields: { [a]: Inner },
        version: Model.was.retyped(a as never, Rest, {
          up: (value) => new Inner({ n: Number(got(value, "n")) }, { disableChecks: true }) as never,
          down: (value) => new Rest({ n: String(got(value, "n")) }, { disableChecks: true }) as never
        }),
        before: []
      }
    case "add":
      return {
        fields: { [a]: Schema.String.pipe(Model.generated(Generator.uuid())) },
        version: Model.was.added(a as never),
        before: []
      }
    case "same":
      return { fields: { [a]: text, [`o${i}`]: Inner }, version: Model.was.added("extra" as never), before: [a] }
  }
}

/** What all models have: it stands for their types. */
class Sample extends Model.Class<Sample>()("Any", {
  id: Model.id(),
  from: Schema.Int,
  to: Schema.Int,
  text: Schema.String
}) {}

const modelOf = (kinds: ReadonlyArray<Kind>, isConverted: boolean) => {
  const changes = kinds.map((kind, i) => changeOf(kind, i, isConverted))
  const fields = Object.assign({}, ...changes.map(({ fields }) => fields))
  const texts = Object.keys(fields)
  const isAllowed = (values: unknown) => texts.every((name) => Reflect.get(Object(values), name) !== "bad")
  return {
    names: [...new Set([...changes.flatMap(({ before }) => before), ...texts])],
    model: Model.Class<unknown>()("Any", {
      id: Model.id(),
      from: Schema.Int,
      to: Schema.Int.pipe(Validator.max(7)),
      extra: Schema.String.pipe(Model.withDefault(() => "e")),
      ...fields
    }, {
      versions: kinds.every((kind) => kind === "same")
        ? [Model.was.added("extra" as never)]
        : changes.filter((_, i) => kinds[i] !== "same").map(({ version }) => version) as never,
      validators: [
        Validator.related("Order", "to", ({ from, to }: { from: number; to: number }) => from <= to, {
          message: "must not be below from"
        })
      ] as never,
      validate: (values) =>
        isAllowed(values)
          ? Effect.void
          : Effect.fail(new ModelError.Problem({ field: "", validator: "Allowed", message: "must be allowed" }))
    }) as unknown as typeof Sample
  }
}

const values = [
  "",
  "1",
  "9",
  "X",
  "bad",
  "ab",
  "x c",
  "abcd",
  "12",
  "a bad",
  1,
  2,
  3,
  4,
  6,
  9,
  ...[0, 3].map((n) => new Inner({ n })),
  ...["1", "9", "x"].map((n) => new Rest({ n }))
]

const Numbers = (minimum: number, maximum: number) =>
  Schema.Array(Schema.Int.check(Schema.isBetween({ minimum, maximum }))).check(
    Schema.isMinLength(4),
    Schema.isMaxLength(12)
  )

const Cases = Schema.Struct({
  kinds: Schema.Array(Schema.Literals(Kinds)).check(Schema.isMinLength(1), Schema.isMaxLength(4)),
  isConverted: Schema.Boolean,
  understood: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 })),
  numbers: Numbers(0, 1_000),
  operations: Schema.Array(Schema.Literals([
    "insert",
    "bulkInsert",
    "save",
    "replace",
    "patch",
    "modify",
    "updateOne",
    "updateMany",
    "findOneAndUpdate"
  ])).check(Schema.isMinLength(4), Schema.isMaxLength(12))
})

const counted = { written: 0, refused: 0 }

describe("writes by earlier forms", () => {
  it.effect.prop(
    "store no document that a write in the newest form refuses, for any model, any ways and any operation",
    [Cases],
    ([{ isConverted, kinds, numbers, operations, understood }]) =>
      Effect.gen(function*() {
        const { model, names } = modelOf(kinds, isConverted)
        const store = yield* DocumentStore.DocumentStore
        yield* store.updateOne("appkernel.forms", { _id: "Any" }, { $max: { understood } }, { upsert: true })
        const newest = yield* Repository.make(model)
        const steps = Math.max(1, kinds.filter((kind) => kind !== "same").length)
        let at = 0
        const next = () => numbers[at++ % numbers.length]! + at
        // What an earlier form itself refuses is not of interest.
        const valueFor = (view: Model.Any, name: string): unknown => {
          const fitting = values.filter((value) => Schema.is(view.store.fields[name] as Schema.Schema<unknown>)(value))
          return fitting[next() % fitting.length]
        }
        for (const operation of operations) {
          const view = Model.form(model, 1 + next() % steps) as unknown as typeof Sample
          const old = yield* Repository.make(view)
          const own = ["from", "to", ...names].filter((name) => Object.hasOwn(view.store.fields, name))
          // Each field of a text, a number or a model is written like this one.
          const chosen = own[next() % own.length]
          const name = chosen as "text"
          const instance = (id: string): Sample =>
            Reflect.construct(view, [{ id, ...Object.fromEntries(own.map((name) => [name, valueFor(view, name)])) }])
          const id = `P${next() % 3}`
          const value = () => valueFor(view, name) as string
          const copy = (one: Sample, change: object): Sample =>
            Object.assign(Object.create(Object.getPrototypeOf(one)), one, change)
          const run = (): Effect.Effect<unknown, { readonly _tag: string }> => {
            switch (operation) {
              case "insert":
                return old.insert(instance(id))
              case "bulkInsert":
                return old.bulkInsert([instance("P0"), instance("P1"), instance("P2")], { ordered: false })
              case "save":
              case "replace":
                return old[operation](instance(id))
              case "patch":
                return old.patch(id, { [name]: value() })
              case "modify":
                return old.modify(id, (one) => Effect.sync(() => copy(one, { [name]: value() })))
              case "findOneAndUpdate":
              case "updateOne":
              case "updateMany":
                return old[operation](
                  undefined,
                  ($) => chosen === "to" ? [$.to.increment(3)] : [$[name].set(value())]
                )
            }
          }
          const result = yield* Effect.result(Effect.suspend(run))
          counted[result._tag === "Success" ? "written" : "refused"] += 1
          // What a way fails on, or gives, is the sender's fault.
          if (result._tag === "Failure") {
            assert.include([
              "ValidationException",
              "PropertyRequiredException",
              "DocumentNotFound",
              "DuplicateKey",
              "BulkInsertFailed"
            ], result.failure._tag)
          }
        }
        const stored = yield* Stream.runCollect(newest.stream())
        for (const [i, one] of stored.entries()) {
          yield* newest.insert(Object.assign(Object.create(Object.getPrototypeOf(one)), one, { id: `N${i}` }))
        }
      }).pipe(Effect.provide(EmbeddedStore.layerMemory)),
    { arbitrary: { runs: 150 } }
  )

  it("were taken and refused", () => {
    assert.isAbove(Math.min(counted.written, counted.refused), 50, JSON.stringify(counted))
  })

  it.effect("make what the newest form generates and converts, as they would in the newest form", () =>
    Effect.gen(function*() {
      class Old
        extends Model.Class<Old>()("Account", { id: Model.id(), name: Schema.String, password: Schema.String })
      {}
      class Account extends Model.Class<Account>()("Account", {
        id: Model.id(),
        name: Schema.String.pipe(Model.converted(Converter.lowerCase)),
        password: Schema.String.pipe(Model.converted(Converter.contentHasher({ rounds: 1_000 }))),
        token: Schema.String.pipe(Model.generated(Generator.uuid()))
      }, { versions: [Model.was.added("token")] }) {}
      const old = yield* Repository.make(Model.form(Account, 1, Old))
      const accounts = yield* Repository.make(Account)
      const tokens: Array<string> = []
      for (const password of ["first", "second"]) {
        yield* old.save(new Old({ id: "A", name: "ADA", password }))
        const { name, password: hash, token } = yield* accounts.findById("A")
        assert.strictEqual(name, "ada")
        assert.isTrue(yield* Converter.verifyContent(password, hash))
        tokens.push(token)
        if (password === "second") continue
        // It is neither converted again nor generated again.
        yield* old.patch("A", { name: "Bo" })
        assert.strictEqual((yield* accounts.findById("A")).password, hash)
        assert.strictEqual((yield* accounts.findById("A")).token, token)
        yield* old.deleteById("A")
      }
      assert.lengthOf(new Set(tokens), 2)
    }).pipe(Effect.provide(EmbeddedStore.layerMemory)))
})
