/**
 * Dates and date-times: `DateTime.Utc` in the program, BSON dates in the store, ISO 8601 text on the wire.
 *
 * @since 0.1.0
 */
import * as EffectDateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import { temporalKind } from "../shape/annotations.ts"
import * as iso from "./dateTexts.ts"

/** The date-times that have a wire form. @internal */
export const ofFourDigitYears: Schema.DateTimeUtc = Schema.DateTimeUtc.check(
  Schema.makeFilter((moment: EffectDateTime.Utc) => iso.hasFourDigitYear(moment.epochMilliseconds), {
    expected: "a year from 0000 to 9999",
    arbitraryConstraint: {
      order: EffectDateTime.Order,
      minimum: EffectDateTime.makeUnsafe(iso.earliest),
      maximum: EffectDateTime.makeUnsafe(iso.latest)
    }
  })
)

/**
 * A date-time: a `DateTime.Utc` in the program, a BSON date (milliseconds) in the store, and on the wire ISO 8601 in
 * UTC without zone and with microseconds: `2026-01-31T09:30:00.123000`. Input may have a zone and 0 to 9 fraction
 * digits; without a zone it is UTC. Years have four digits.
 *
 * @category schemas
 * @since 0.1.0
 */
export const DateTime: Temporal = make({
  kind: "datetime",
  format: "date-time",
  expected: "an ISO 8601 date-time",
  parse: iso.parseDateTime,
  print: iso.formatDateTime,
  keep: (millis) => millis
})

/**
 * A calendar date: a `DateTime.Utc` at midnight in the program, a BSON date in the store, `YYYY-MM-DD` on the wire.
 * Encoding cuts the time of day off. Years have four digits.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Date: Temporal = make({
  kind: "date",
  format: "date",
  expected: "a date as YYYY-MM-DD",
  parse: iso.parseDate,
  print: iso.formatDate,
  keep: iso.toMidnight
})

/**
 * The schema of {@link DateTime} and {@link Date}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Temporal extends Schema.decodeTo<Schema.DateTimeUtc, Schema.declare<globalThis.Date>> {
  readonly "Rebuild": Temporal
}

// internal

function make(options: {
  readonly kind: "datetime" | "date"
  readonly format: string
  readonly expected: string
  readonly parse: (text: string) => number | undefined
  readonly print: (date: globalThis.Date) => string
  /** Truncates milliseconds since 1970 to the precision of the type. */
  readonly keep: (millis: number) => number
}): Temporal {
  const { expected, keep, parse, print } = options
  const stored = Schema.declare(iso.isDate, {
    expected,
    [temporalKind]: options.kind,
    toCodecJson: () =>
      Schema.link<globalThis.Date>()(Schema.String.annotate({ format: options.format }), {
        decode: SchemaGetter.transformEffect((text: string) => {
          const millis = parse(text)
          return millis === undefined
            ? Effect.fail(new SchemaIssue.InvalidValue({ message: `Expected ${expected}` }))
            : Effect.succeed(toDate(millis))
        }),
        encode: SchemaGetter.transform(print)
      })
  })
  return stored.pipe(Schema.decodeTo(ofFourDigitYears, {
    decode: SchemaGetter.transform((date: globalThis.Date) => EffectDateTime.makeUnsafe(keep(date.getTime()))),
    encode: SchemaGetter.transform((moment) => toDate(keep(moment.epochMilliseconds)))
  }))
}

function toDate(millis: number): globalThis.Date {
  return EffectDateTime.toDateUtc(EffectDateTime.makeUnsafe(millis))
}
