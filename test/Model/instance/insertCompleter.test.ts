import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Cause, DateTime, Effect, Exit, Option, Predicate, Schema } from "effect"
import { Converter, Generator, Model, type ModelError, Validator } from "../../../src/Model/index.ts"
import { completer } from "../../../src/Model/instance/insertCompleter.ts"

const upper = (text: string) => Effect.succeed(text.toUpperCase())

class Line extends Model.Class<Line>()("Line", {
  sku: Schema.String.pipe(Validator.notEmpty, Model.converted(upper)),
  added: Model.DateTime.pipe(Model.generated(Generator.dateNow)),
  note: Schema.NullOr(Schema.String).pipe(Model.withDefault(() => "none"))
}) {}

class Plain extends Model.Class<Plain>()("Plain", { text: Schema.String.pipe(Model.optional) }) {}

class Order extends Model.Class<Order>()("Order", {
  id: Schema.String.pipe(Model.generated(Effect.succeed("O1"))),
  secret: Schema.String.pipe(Model.converted(upper), Validator.max(6), Model.omitted),
  lines: Schema.Array(Line),
  first: Line.pipe(Model.optional),
  perhaps: Schema.NullOr(Line),
  plain: Plain.pipe(Model.optional),
  fallback: Line.pipe(Model.withDefault(() => new Line({ sku: "F", added: DateTime.makeUnsafe(0) }))),
  tags: Schema.Array(Schema.String).pipe(Model.withDefault(() => ["new"]), Validator.max(2)),
  expires: Model.DateTime.pipe(Model.generated(Effect.succeed(DateTime.makeUnsafe(0))), Validator.future),
  ...Model.versioned
}) {}

class Trimmed extends Model.Class<Trimmed>()("Trimmed", {
  plain: Plain.pipe(Model.converted(({ text = "" }) => Effect.succeed(new Plain({ text: text.trim() }))))
}) {}

/** The completer works in place. */
const copyOf = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(copyOf)
    : Predicate.isObject(value) && !DateTime.isDateTime(value)
    ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copyOf(part)]))
    : value

const problemsIn = (exit: Exit.Exit<unknown, ModelError.ModelError>) =>
  Exit.isSuccess(exit) ? [] : Cause.findErrorOption(exit.cause).pipe(Option.map(({ problems }) => problems))

describe("the completer", () => {
  it.effect.prop(
    "gives what finalisation gives, of what the create schema decoded",
    [Arbitrary.schema(Order.create)],
    ([input]) =>
      Effect.gen(function*() {
        const finalised = yield* Effect.exit(Model.finalise(Order, input))
        const completed = yield* Effect.exit(completer(Order)(copyOf(input) as typeof input))
        assert.deepStrictEqual(problemsIn(completed), problemsIn(finalised))
        if (Exit.isFailure(completed) || Exit.isFailure(finalised)) return
        // What is complete has nothing left to be filled in or changed.
        const again = yield* Model.finalise(Order, completed.value as typeof input)
        assert.deepStrictEqual(again, finalised.value)
      }),
    { arbitrary: { runs: 300 } }
  )

  it.effect("supports models that are converted as instances", () =>
    Effect.gen(function*() {
      const completed = yield* completer(Trimmed)({ plain: { text: " a " } })
      assert.deepStrictEqual(completed, { plain: new Plain({ text: "a" }) })
    }))

  it.effect("has no omitted value in its errors", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(completer(Order)({ secret: "CANARY-secret", lines: [], perhaps: null }))
      assert.notInclude(JSON.stringify(error), "CANARY")
      assert.strictEqual(error.field, "secret")
    }))

  it.effect("hashes sent values", () =>
    Effect.gen(function*() {
      class User extends Model.Class<User>()("User", {
        password: Schema.String.pipe(Validator.max(8), Model.converted(Converter.contentHasher({ rounds: 1_000 })))
      }) {}
      const { password } = yield* completer(User)({ password: "secret" })
      assert.isTrue(yield* Converter.verifyContent("secret", String(password)))
    }))
})
