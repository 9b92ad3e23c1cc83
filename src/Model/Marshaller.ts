/**
 * Marshallers convert between a value in the program and its stored and wire forms.
 *
 * A marshaller consists of Schema transformations. To accept several old forms, use a `Schema.Union` of codecs with the
 * same decoded type, the current one first: it decodes all forms and encodes the first.
 *
 * **Example** (A changed field type whose old documents are upgraded on read)
 *
 * ```ts
 * import { Effect, Schema, SchemaGetter } from "effect"
 * import { Marshaller, Model } from "appkernel"
 *
 * const Cents = Marshaller.make(Schema.Union([
 *   Schema.Int,
 *   // Prices were texts in francs once.
 *   Schema.FiniteFromString.pipe(Schema.decodeTo(Schema.Int, {
 *     decode: SchemaGetter.transform((francs) => Math.round(francs * 100)),
 *     encode: SchemaGetter.transform((cents) => cents / 100)
 *   }))
 * ]))
 *
 * class Article extends Model.Class<Article>()("Article", {
 *   id: Model.id(),
 *   price: Schema.Int.pipe(Model.marshalled(Cents))
 * }) {}
 *
 * const article = await Effect.runPromise(Model.fromRecord(Article, { _id: "A1", price: "12.50" }))
 * article.price // => 1250
 * ```
 *
 * @since 0.1.0
 */
import * as EffectDateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import * as iso from "./codec/dateTexts.ts"
import * as Temporal from "./codec/temporal.ts"

/**
 * Two codecs of the same type: `store` for the stored form, `wire` for the form that callers read and send.
 *
 * @category models
 * @since 0.1.0
 */
export interface Marshaller<Store extends Schema.Top, Wire extends Schema.Top & { readonly Type: Store["Type"] }> {
  readonly store: Store
  readonly wire: Wire
}

/**
 * Makes a marshaller from one codec for both sides, or from one for each.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: {
  <S extends Schema.Top>(codec: S): Marshaller<S, S>
  <S extends Schema.Top, W extends Schema.Top & { readonly Type: S["Type"] }>(
    codecs: { readonly store: S; readonly wire: W }
  ): Marshaller<S, W>
} = (codecs: Schema.Top | Marshaller<Schema.Top, Schema.Top>): Marshaller<Schema.Top, Schema.Top> =>
  Schema.isSchema(codecs) ? { store: codecs, wire: codecs } : codecs

/**
 * The schema of {@link timestamp}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Timestamp extends Schema.decodeTo<Schema.DateTimeUtc, Schema.Finite> {
  readonly "Rebuild": Timestamp
}

// A date-time has millisecond precision.
const Timestamp: Timestamp = Schema.Finite.check(
  Schema.isBetween({ minimum: iso.earliest / 1000, maximum: iso.latest / 1000 })
).pipe(Schema.decodeTo(Temporal.ofFourDigitYears, {
  decode: SchemaGetter.transformEffect((seconds: number) => {
    const millis = Math.round(seconds * 1000)
    // Stored values are decoded without checks.
    return iso.hasFourDigitYear(millis)
      ? Effect.succeed(EffectDateTime.makeUnsafe(millis))
      : Effect.fail(new SchemaIssue.InvalidValue({ message: "Expected a UNIX timestamp" }))
  }),
  encode: SchemaGetter.transform((moment) => moment.epochMilliseconds / 1000)
}))

/**
 * Date-times as UNIX timestamps: seconds since 1970 in UTC with a fraction to the millisecond, in the store and on the
 * wire.
 *
 * @category marshallers
 * @since 0.1.0
 */
export const timestamp: Marshaller<Timestamp, Timestamp> = make(Timestamp)

/**
 * Calendar dates as BSON dates at midnight UTC in the store, which has no dates without a time, and as `YYYY-MM-DD` on
 * the wire. `Model.Date` already behaves this way.
 *
 * @category marshallers
 * @since 0.1.0
 */
export const mongoDateTime: Marshaller<Temporal.Temporal, Temporal.Temporal> = make(Temporal.Date)
