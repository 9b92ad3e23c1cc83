/** The messages about values that a caller sends in another form than expected. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Schema, SchemaGetter } from "effect"
import { Marshaller, Model } from "../../../src/index.ts"
import { kinds } from "../../support/everyKind.ts"

/** Marshallers whose wire form is each type of JSON. */
const marshallers = {
  "a number of seconds": Model.DateTime.pipe(Model.marshalled(Marshaller.timestamp)),
  "a date": Model.Date.pipe(Model.marshalled(Marshaller.mongoDateTime)),
  "milliseconds": Schema.Duration.pipe(
    Model.marshalled({ store: Schema.Duration, wire: Schema.DurationFromMillis })
  ),
  "a text for a number": Schema.Finite.pipe(
    Model.marshalled({ store: Schema.Finite, wire: Schema.FiniteFromString })
  ),
  "an object": Schema.Boolean.pipe(Model.marshalled(Marshaller.make(
    Schema.Struct({ is: Schema.Boolean }).pipe(Schema.decodeTo(Schema.Boolean, {
      decode: SchemaGetter.transform(({ is }) => is),
      encode: SchemaGetter.transform((is) => ({ is }))
    }))
  ))),
  "a list": Schema.Duration.pipe(Model.marshalled(Marshaller.make(
    Schema.Array(Schema.Int).pipe(Schema.decodeTo(Schema.Duration, {
      decode: SchemaGetter.transform(([seconds = 0]) => Duration.seconds(seconds)),
      encode: SchemaGetter.transform((duration) => [Duration.toSeconds(duration)])
    }))
  )))
}

/** What a message asks for, in each of its forms. */
const asked: ReadonlyArray<readonly [form: RegExp, examples: (...groups: Array<string>) => ReadonlyArray<unknown>]> = [
  [/such as (\S+)/u, (example) => [example]],
  [/must be (?:one of )?((?:\w+, )*\w+)$/u, (choices) => choices.split(", ").flatMap((one) => [one, Number(one)])],
  [/a whole number, written as text/u, () => ["7"]],
  [/a number, written as text/u, () => ["1.5"]],
  [/true or false, written as text/u, () => ["true"]],
  [/a whole number$/u, () => [7]],
  [/a number$/u, () => [1.5]],
  [/true or false$/u, () => [true]],
  [/a list/u, () => [[]]],
  [/an object(?! in)/u, () => [{}]],
  [/a text/u, () => ["x"]],
  [/Base64/u, () => ["eA=="]]
]

describe("A message about a value of the wrong type", () => {
  const fields: { readonly [name: string]: unknown } = {
    ...marshallers,
    ...Object.fromEntries(Object.entries(kinds).map(([name, { schema }]) => [name, schema]))
  }
  for (const [name, schema] of Object.entries(fields)) {
    class Holder extends Model.Class<Holder>()("Holder", {
      // Every kind of field.
      value: schema as typeof Schema.Unknown
    }) {}
    const messageFor = (value: unknown) =>
      Effect.match(Model.fromWire(Holder, { _type: "Holder", value }), {
        onFailure: ({ problems }) =>
          problems.find(({ field, validator }) => field === "value" && validator === "Type")?.message,
        onSuccess: () => undefined
      })
    it.effect.prop(
      `does not ask for what it refuses: ${name}`,
      [Schema.Json],
      ([random]) =>
        Effect.gen(function*() {
          for (const value of [random, null, "?", 1.5, -7, true, [], {}, "2026-01-31T09:30:00", "2026-01-31", "7"]) {
            const message = yield* messageFor(value)
            if (message === undefined) continue
            for (const [form, examples] of asked) {
              const [match, ...groups] = form.exec(message) ?? []
              if (match === undefined) continue
              const again = yield* Effect.forEach(examples(...groups), messageFor)
              assert.isTrue(again.some((other) => other !== message), `${JSON.stringify(value)}: ${message}`)
            }
          }
        }),
      { arbitrary: { runs: 5 } }
    )
  }

  it.effect("tells the form of the wire, in which the marshaller reads it", () =>
    Effect.gen(function*() {
      class Event extends Model.Class<Event>()("Event", {
        at: marshallers["a number of seconds"],
        pause: marshallers.milliseconds,
        is: marshallers["an object"],
        ratio: marshallers["a text for a number"]
      }) {}
      const { problems } = yield* Effect.flip(
        Model.fromWire(Event, { _type: "Event", at: "2026-01-31T09:30:00", pause: "1 minute", is: true, ratio: 1.5 })
      )
      assert.deepStrictEqual(problems.map(({ field, message }) => `${field} ${message}`), [
        "at must be a number",
        "pause must be a number",
        "is must be an object",
        "ratio must be a number, written as text"
      ])
    }))
})
