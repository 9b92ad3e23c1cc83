import { assert, describe, it } from "@effect/vitest"
import Ajv from "ajv-draft-04"
import addFormats from "ajv-formats"
import { DateTime, Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Converter, Model, Validator } from "../../src/Model/index.ts"

/** A model of one field, named `value`. */
const holding = (value: Schema.Top) => Model.Class<unknown>()("Holder", { value })

/** What the field's validators, in their order, say of the value. */
const problemsOf = (schema: Schema.Top, value: unknown) =>
  Model.finalise(holding(schema), { value }).pipe(
    Effect.as([]),
    Effect.catch((error) => Effect.succeed(error.problems.map(({ message, validator }) => `${validator} ${message}`)))
  )

const constraintOf = (schema: Schema.Top) => {
  const { properties } = Model.jsonSchema(holding(schema))
  return (properties as { readonly value: unknown }).value // every schema has properties
}

const validatorsOf = (schema: Schema.Top) => Model.metadata(holding(schema))["value"]?.validators

interface Case {
  readonly schema: Schema.Top
  readonly right: ReadonlyArray<unknown>
  readonly wrong: ReadonlyArray<unknown>
  readonly problem: string
  readonly constraint: unknown
  readonly entry: { readonly type: string; readonly value?: unknown }
}

const cases: { readonly [name: string]: Case } = {
  "notEmpty of text": {
    schema: Schema.String.pipe(Validator.notEmpty),
    right: ["a", " ", "\u0000", "🔑"],
    wrong: [""],
    problem: "NotEmpty must not be empty",
    constraint: { type: "string", minLength: 1 },
    entry: { type: "NotEmpty" }
  },
  "notEmpty of a list": {
    schema: Schema.Array(Schema.Int).pipe(Validator.notEmpty),
    right: [[1], [1, 2]],
    wrong: [[]],
    problem: "NotEmpty must not be empty",
    constraint: { type: "array", items: integer(), minItems: 1 },
    entry: { type: "NotEmpty" }
  },
  regexp: {
    schema: Schema.String.pipe(Validator.regexp(/^[a-z]+$/u)),
    right: ["a", "abc"],
    wrong: ["", "A", "a1", "a\n"],
    problem: "Regexp must match ^[a-z]+$",
    constraint: { type: "string", pattern: "^[a-z]+$" },
    entry: { type: "Regexp", value: "^[a-z]+$" }
  },
  "min of integers": {
    schema: Schema.Int.pipe(Validator.min(3)),
    right: [3, 4, Number.MAX_SAFE_INTEGER],
    wrong: [2, -3],
    problem: "Min must be at least 3",
    constraint: { type: "integer", minimum: 3, maximum: Number.MAX_SAFE_INTEGER },
    entry: { type: "Min", value: 3 }
  },
  "max of numbers": {
    schema: Schema.Finite.pipe(Validator.max(0.5)),
    right: [0.5, -1e300],
    wrong: [0.500001, 1],
    problem: "Max must be at most 0.5",
    constraint: { type: "number", maximum: 0.5 },
    entry: { type: "Max", value: 0.5 }
  },
  "min of number literals": {
    schema: Schema.Literals([1, 2, 3]).pipe(Validator.min(2)),
    right: [2, 3],
    wrong: [1],
    problem: "Min must be at least 2",
    constraint: { type: "number", enum: [1, 2, 3], minimum: 2 },
    entry: { type: "Min", value: 2 }
  },
  "min of text, in characters": {
    schema: Schema.String.pipe(Validator.min(2)),
    right: ["ab", "🔑🔑", "abc"],
    wrong: ["", "a", "🔑"],
    problem: "Min must have at least 2 characters",
    constraint: { type: "string", minLength: 2 },
    entry: { type: "Min", value: 2 }
  },
  "max of text, in characters": {
    schema: Schema.String.pipe(Validator.max(2)),
    right: ["", "ab", "🔑🔑"],
    wrong: ["abc", "🔑🔑🔑"],
    problem: "Max must have at most 2 characters",
    constraint: { type: "string", maxLength: 2 },
    entry: { type: "Max", value: 2 }
  },
  "min of text literals": {
    schema: Schema.Literals(["a", "ab"]).pipe(Validator.min(2)),
    right: ["ab"],
    wrong: ["a"],
    problem: "Min must have at least 2 characters",
    constraint: { type: "string", enum: ["a", "ab"], minLength: 2 },
    entry: { type: "Min", value: 2 }
  },
  "min of a list": {
    schema: Schema.Array(Schema.String).pipe(Validator.min(2)),
    right: [["a", "b"]],
    wrong: [[], ["long enough"]],
    problem: "Min must have at least 2 elements",
    constraint: { type: "array", items: { type: "string" }, minItems: 2 },
    entry: { type: "Min", value: 2 }
  },
  "max of a list": {
    schema: Schema.Array(Schema.String).pipe(Validator.max(1)),
    right: [[], ["long enough"]],
    wrong: [["a", "b"]],
    problem: "Max must have at most 1 element",
    constraint: { type: "array", items: { type: "string" }, maxItems: 1 },
    entry: { type: "Max", value: 1 }
  }
}

function integer() {
  return { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
}

describe("Validator", () => {
  for (const [name, { constraint, entry, problem, right, schema, wrong }] of Object.entries(cases)) {
    it.effect(`${name} takes what follows the rule, and says which rule what doesn't breaks`, () =>
      Effect.gen(function*() {
        for (const value of right) assert.deepStrictEqual(yield* problemsOf(schema, value), [], JSON.stringify(value))
        for (const value of wrong) {
          assert.deepStrictEqual(yield* problemsOf(schema, value), [problem], JSON.stringify(value))
        }
      }))

    it(`${name} is part of the JSON schema and of the metadata`, () => {
      assert.deepStrictEqual(constraintOf(schema), constraint)
      assert.deepStrictEqual(validatorsOf(schema), [entry])
    })
  }

  it.effect("reports every violated rule, in order", () =>
    Effect.gen(function*() {
      const schema = Schema.String.pipe(Validator.min(3), Validator.regexp(/^a/u), Validator.max(5))
      assert.deepStrictEqual(yield* problemsOf(schema, "b"), [
        "Min must have at least 3 characters",
        "Regexp must match ^a"
      ])
      assert.deepStrictEqual(constraintOf(schema), { type: "string", minLength: 3, maxLength: 5, pattern: "^a" })
      assert.deepStrictEqual(validatorsOf(schema), [
        { type: "Min", value: 3 },
        { type: "Regexp", value: "^a" },
        { type: "Max", value: 5 }
      ])
    }))

  it.effect("validates the elements of a list", () =>
    Effect.gen(function*() {
      class Tagged extends Model.Class<Tagged>()("Tagged", {
        tags: Schema.Array(Schema.String.pipe(Validator.max(2)))
      }) {}
      const error = yield* Effect.flip(Model.finalise(Tagged, { tags: ["ab", "abc"] }))
      assert.deepStrictEqual(error.problems.map(({ field }) => field), ["tags.1"])
    }))

  it.effect("is any filter of a schema, and reports its message", () =>
    Effect.gen(function*() {
      const even = Schema.Int.check(Schema.makeFilter((n: number) => n % 2 === 0 || "is odd"))
      assert.deepStrictEqual(yield* problemsOf(even, 3), ["Type is odd"])
    }))
})

describe("Validator.email", () => {
  const email = Schema.String.pipe(Validator.email)
  const ajv = new Ajv.default()
  addFormats.default(ajv, ["email"])
  const isFormatted = ajv.compile({ type: "string", format: "email" })

  it.effect("accepts the form of HTML's e-mail fields, with a dot in the domain", () =>
    Effect.gen(function*() {
      const right = [
        "a@b.ch",
        "jane.doe+tag@sub.example.com",
        "!#$%&'*+/=?^_`{|}~-@example.com",
        `${"a".repeat(64)}@example.com`
      ]
      const wrong = [
        "",
        "jane",
        "jane@localhost",
        "@example.com",
        "jane@",
        "jane@-example.com",
        "jane@example-.com",
        "jane@example..com",
        "jane doe@example.com",
        "jane@example.com ",
        "jane@example.com\n",
        "jänner@example.com",
        `jane@${"a".repeat(64)}.com`,
        ".jane@example.com",
        "jane.@example.com",
        "jane..doe@example.com",
        `${"a".repeat(65)}@example.com`,
        `${"a.".repeat(32)}a@example.com`,
        `jane@${"abc.".repeat(63)}ch`
      ]
      for (const address of right) assert.deepStrictEqual(yield* problemsOf(email, address), [], address)
      for (const address of wrong) {
        assert.deepStrictEqual(yield* problemsOf(email, address), ["Email must be an e-mail address"], address)
      }
    }))

  it.prop(
    "takes no address that the format `email` of the JSON schema refuses",
    [Schema.Array(Schema.Literals(["a", ".", "..", "@", "b.ch", "-", "+", "_", "é"])).check(Schema.isMaxLength(8))],
    ([parts]) => {
      const address = `${parts.join("")}@b.ch`
      assert.isTrue(isFormatted(address) || !Schema.is(email)(address), address)
    },
    { arbitrary: { runs: 500 } }
  )

  it("is an e-mail format in the JSON schema, and an entry in the metadata", () => {
    assert.deepInclude(constraintOf(email), { type: "string", format: "email" })
    assert.deepStrictEqual(validatorsOf(email), [{ type: "Email" }])
  })

  it.effect("takes linear time for any input", () =>
    Effect.gen(function*() {
      for (const long of [`${"a".repeat(100_000)}@${"a.".repeat(50_000)}`, "a.".repeat(100_000), "a".repeat(200_000)]) {
        assert.deepStrictEqual(yield* problemsOf(email, long), ["Email must be an e-mail address"])
      }
    }))
})

describe("Validator.past and Validator.future", () => {
  const at = (millis: number) => DateTime.makeUnsafe(millis)
  const past = Model.DateTime.pipe(Validator.past)
  const future = Model.Date.pipe(Validator.future)

  it.effect("use the current clock", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1000)
      // Clocks differ by as much as a second.
      assert.deepStrictEqual(yield* problemsOf(past, at(2000)), [])
      assert.deepStrictEqual(yield* problemsOf(past, at(999)), [])
      assert.deepStrictEqual(yield* problemsOf(past, at(1000)), [])
      assert.deepStrictEqual(yield* problemsOf(past, at(2001)), ["Past must be in the past"])
      assert.deepStrictEqual(yield* problemsOf(future, at(1000)), ["Future must be in the future"])
      assert.deepStrictEqual(yield* problemsOf(future, at(1001)), [])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* problemsOf(past, at(2001)), [])
      assert.deepStrictEqual(yield* problemsOf(future, at(1001)), ["Future must be in the future"])
    }))

  it("use the system clock outside of a fiber", () => {
    assert.isTrue(Schema.is(past)(at(Date.now() - 60_000)))
    assert.isFalse(Schema.is(past)(at(Date.now() + 60_000)))
  })

  it("are in the metadata, and not in the JSON schema", () => {
    assert.deepStrictEqual(validatorsOf(past), [{ type: "Past" }])
    assert.deepStrictEqual(validatorsOf(future), [{ type: "Future" }])
    assert.deepInclude(constraintOf(past), { type: "string" })
    assert.deepInclude(constraintOf(future), { type: "string", format: "date" })
  })
})

describe("a validator anywhere in a field's pipe", () => {
  class Anywhere extends Model.Class<Anywhere>()("Anywhere", {
    optional: Schema.String.pipe(Model.optional, Validator.notEmpty),
    defaulted: Schema.Array(Schema.Int).pipe(Model.withDefault(() => [1]), Validator.max(2)),
    number: Schema.Int.pipe(Model.optional, Validator.min(10)),
    generated: Model.DateTime.pipe(Model.generated(Effect.succeed(DateTime.makeUnsafe(0))), Validator.past),
    secret: Schema.String.pipe(
      Validator.max(4),
      Model.optional,
      Model.converted(Converter.contentHasher({ rounds: 1_000 })),
      Model.omitted,
      Validator.min(20)
    )
  }) {}

  it.effect("validates present values only", () =>
    Effect.gen(function*() {
      const none = yield* Model.finalise(Anywhere, { optional: null, number: null })
      assert.deepStrictEqual({ ...none }, { defaulted: [1], generated: DateTime.makeUnsafe(0) })
      const wrong = yield* Effect.flip(
        Model.finalise(Anywhere, {
          optional: "",
          defaulted: [1, 2, 3],
          number: 9,
          generated: DateTime.makeUnsafe(1_001)
        })
      )
      assert.sameMembers(wrong.problems.map(({ field, validator }) => `${field} ${validator}`), [
        "optional NotEmpty",
        "defaulted Max",
        "number Min",
        "generated Past"
      ])
    }))

  it("applies in every schema of the field, and accepts null where null is allowed", () => {
    const is = (schema: Schema.Top, value: object) => Schema.is(schema)(value)
    for (const schema of [Anywhere.create, Anywhere.patch]) {
      assert.isTrue(is(schema, { optional: null, number: null }))
      assert.isTrue(is(schema, { optional: "a", number: 10, defaulted: [] }))
      assert.isFalse(is(schema, { optional: "" }))
      assert.isFalse(is(schema, { number: 9 }))
      assert.isFalse(is(schema, { defaulted: [1, 2, 3] }))
    }
    const stored = { defaulted: [1], generated: DateTime.makeUnsafe(0) }
    assert.isTrue(is(Anywhere.store, stored))
    assert.isFalse(is(Anywhere.store, { ...stored, optional: "" }))
    assert.isFalse(is(Anywhere.wire, { _type: "Anywhere", ...stored, number: 9 }))
  })

  it("applies to the input before a converter, to the stored value after it", () => {
    assert.isTrue(Schema.is(Anywhere.create)({ secret: "1234" }))
    assert.isFalse(Schema.is(Anywhere.create)({ secret: "12345" }))
    const stored = { defaulted: [1], generated: new Date(0) }
    const read = Schema.decodeUnknownSync(Anywhere)
    const hashed = "$pbkdf2-sha256$1000$AP/7777.P4A$tJCeAKvm0rGP4z3edCH4W7xtiW17oE6azwWdzxKAy90"
    assert.strictEqual(read({ ...stored, secret: hashed }).secret, hashed)
    assert.throws(() => read({ ...stored, secret: "1234" }))
  })

  it.effect("accepts a converted value that is changed or unchanged", () =>
    Effect.gen(function*() {
      const first = yield* Model.finalise(Anywhere, { secret: "1234" })
      const again = yield* Model.finalise(Anywhere, first)
      assert.strictEqual(again.secret, first.secret)
      const error = yield* Effect.flip(Model.finalise(Anywhere, { ...first, secret: "12345" }))
      assert.deepStrictEqual(error.problems.map(({ field, validator }) => [field, validator]), [["secret", "Max"]])
    }))
})
