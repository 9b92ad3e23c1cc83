/**
 * Validators check the value of a field.
 *
 * A validator is an Effect Schema filter: it composes with any other filter, works in any schema, adds its constraint
 * to the JSON schema, and appears by name in the metadata and in reported problems. It may stand anywhere in a field's
 * pipe. An optional value is checked only if it is present.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import type { Field } from "./Field.ts"
import * as Index from "./FieldIndex.ts"
import {
  boundMessage,
  notEmptyTypeId,
  relatedAnnotation,
  validatorAnnotation,
  type ValidatorEntry
} from "./shape/annotations.ts"
import * as fields from "./shape/fields.ts"
import { holdsNumbers, holdsTexts } from "./shape/kind.ts"
import { asUnicode } from "./shape/unicodePattern.ts"
import { elementOf } from "./shape/variants.ts"

/**
 * The value is not empty: a text or a list with at least one element. Among the validators of `Model.field` it also
 * makes the field required; in a pipe it applies to present values only.
 *
 * @category combinators
 * @since 0.1.0
 */
export const notEmpty: NotEmpty = Object.assign(
  <F extends Field.Holding<{ readonly length: number }>>(self: F): Field.Checked<F> =>
    checked(self, Schema.isMinLength(1, named("NotEmpty", "must not be empty"))),
  { [notEmptyTypeId]: true } as const
)

/**
 * The type of {@link notEmpty}.
 *
 * @category models
 * @since 0.1.0
 */
export interface NotEmpty {
  <F extends Field.Holding<{ readonly length: number }>>(self: F): Field.Checked<F>
  readonly [notEmptyTypeId]: true
}

/**
 * The text matches the pattern. Anchor the pattern and give it the flag `u`: a pattern without it is part of the JSON
 * schema only if it matches the same texts with it.
 *
 * @category combinators
 * @since 0.1.0
 */
export const regexp = (pattern: RegExp) => <F extends Field.Holding<string>>(self: F): Field.Checked<F> =>
  checked(self, Schema.isPattern(asUnicode(pattern), named("Regexp", `must match ${pattern.source}`, pattern.source)))

/**
 * The text is an e-mail address as in HTML's `input type=email`, with a dot in its domain, and without dots at the ends
 * of the local part or next to each other (RFC 5321, section 4.1.2); the local part has at most 64 characters and the
 * domain 253 (section 4.5.3.1). Takes linear time.
 *
 * @category combinators
 * @since 0.1.0
 */
export const email = <F extends Field.Holding<string>>(self: F): Field.Checked<F> => checked(self, emailCheck)

/**
 * Numbers: not less than `bound`. Text: at least `bound` characters (Unicode code points). Lists: at least `bound`
 * elements.
 *
 * @category combinators
 * @since 0.1.0
 */
export const min = (bound: number) => <F extends Field.Holding<Measurable>>(self: F): Field.Checked<F> =>
  checked(
    self,
    measured(self, {
      number: () => Schema.isGreaterThanOrEqualTo(bound, atLeast(bound)),
      text: () => Schema.isMinCodePoints(bound, atLeast(bound, "character")),
      list: () => Schema.isMinLength(bound, atLeast(bound, "element"))
    })
  )

/**
 * Numbers: not more than `bound`. Text: at most `bound` characters (Unicode code points). Lists: at most `bound`
 * elements.
 *
 * @category combinators
 * @since 0.1.0
 */
export const max = (bound: number) => <F extends Field.Holding<Measurable>>(self: F): Field.Checked<F> =>
  checked(
    self,
    measured(self, {
      number: () => Schema.isLessThanOrEqualTo(bound, atMost(bound)),
      text: () => Schema.isMaxCodePoints(bound, atMost(bound, "character")),
      list: () => Schema.isMaxLength(bound, atMost(bound, "element"))
    })
  )

/**
 * The time is not after now, with a tolerance of one second, since the clocks of several machines differ.
 *
 * @category combinators
 * @since 0.1.0
 */
export const past = <F extends Field.Holding<DateTime.DateTime>>(self: F): Field.Checked<F> =>
  checked(
    self,
    Schema.makeFilter(
      (value: DateTime.DateTime) => value.epochMilliseconds <= now() + maxSkew,
      named("Past", "must be in the past")
    )
  )

/**
 * The time is after now.
 *
 * @category combinators
 * @since 0.1.0
 */
export const future = <F extends Field.Holding<DateTime.DateTime>>(self: F): Field.Checked<F> =>
  checked(
    self,
    Schema.makeFilter(
      (value: DateTime.DateTime) => value.epochMilliseconds > now(),
      named("Future", "must be in the future")
    )
  )

/**
 * No two values are equal. In a list: no two of its elements. In any other field: no two documents of the collection,
 * by a unique index, see `Index.unique`; a write that violates it fails with `DuplicateKey`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const unique = <F extends Field.Input>(self: F): Field.Same<F> =>
  isListOf(self)
    ? fields.evolve(fields.checked(self, distinct), {})
    : fields.evolve(fields.checked(self, indexedAsUnique), {}, { index: Index.unique })

/**
 * A custom validator of one value. `type` is its name in problems and metadata; `isValid` must be pure.
 *
 * **Example** (A custom validator)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Model, Validator } from "appkernel"
 *
 * const even = Validator.make("Even", (value: number) => value % 2 === 0, { message: "must be even" })
 *
 * class Pair extends Model.Class<Pair>()("Pair", { shoes: Schema.Int.pipe(even) }) {}
 *
 * const problem = await Effect.runPromise(Effect.flip(Model.finalise(Pair, { shoes: 3 })))
 * problem.message // => "The property shoes on class Pair must be even"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <A>(
  type: string,
  isValid: (value: A) => boolean,
  options: Options
): <F extends Field.Holding<A>>(self: F) => Field.Checked<F> => {
  const check = Schema.makeFilter(isValid, annotations(type, options))
  return (self) => checked(self, check)
}

/**
 * A custom validator over several fields that reports on one of them. It is a filter for any struct, and goes into the
 * `validators` of a model.
 *
 * **Example** (One field that depends on another)
 *
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Model, Validator } from "appkernel"
 *
 * class Stay extends Model.Class<Stay>()("Stay", {
 *   from: Schema.Int,
 *   to: Schema.Int
 * }, {
 *   validators: [Validator.related("After", "to", ({ from, to }) => to > from, { message: "must be after from" })]
 * }) {}
 *
 * const problem = await Effect.runPromise(Effect.flip(Model.finalise(Stay, { from: 2, to: 1 })))
 * problem.problems.map(({ field, validator }) => [field, validator]) // => [["to", "After"]]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const related = <A>(
  type: string,
  field: keyof A & string,
  isValid: (values: A) => boolean,
  options: Options
): SchemaAST.Filter<A> =>
  Schema.makeFilter(
    (values) => isValid(values) || { path: [field], issue: options.message },
    annotations(type, options, field)
  )

/**
 * The description of a custom validator.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The message, to follow the field's name: `must be even`. It must not contain the value. */
  readonly message: string
  /** The validator's argument, for the metadata. */
  readonly value?: unknown
  /** The constraint in JSON schema (draft-04), if it has one: `{ multipleOf: 2 }`. */
  readonly jsonSchema?: { readonly [keyword: string]: Schema.Json } | undefined
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Measurable = number | string | { readonly length: number }

const emailPattern =
  /^[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+)*@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+$/u

/** The tolerance in milliseconds for the clock that a time was taken from. */
const maxSkew = 1_000

// A filter is a plain function, so it reads the clock of the fiber that runs it.
const now = (): number =>
  (Fiber.getCurrent()?.getRef(Clock.Clock) ?? Clock.Clock.defaultValue()).currentTimeMillisUnsafe()

const named = (type: string, message: string, value?: unknown) => {
  const entry: ValidatorEntry = value === undefined ? { type } : { type, value }
  return { message, [validatorAnnotation]: entry }
}

const matchesEmail = Schema.isPattern(emailPattern, { ...named("Email", "must be an e-mail address"), format: "email" })

/** In a JSON schema, the format bounds the lengths (RFC 5321, section 4.5.3.1). */
const emailCheck = Schema.makeFilter((text: string) => {
  const at = text.indexOf("@")
  return at <= 64 && text.length - at <= 254 && emailPattern.test(text)
}, matchesEmail.annotations)

const annotations = (type: string, { jsonSchema, message, value }: Options, field?: string) => ({
  ...named(type, message, value),
  ...(field === undefined ? {} : { [relatedAnnotation]: field }),
  ...(jsonSchema === undefined ? {} : { toJsonSchema: () => jsonSchema })
})

const indexedAsUnique = Schema.makeFilter(() => true, named("Unique", "must be unique"))

// Effect's own filter compares each element with every other one, in quadratic time.
const distinct = Schema.makeFilter(
  (values: ReadonlyArray<unknown>) => new Set(values.map(identityOf)).size === values.length,
  { ...Schema.isUnique().annotations, ...named("Unique", "must not have an element twice") }
)

/** A text that exactly the equal values share. With a hash, a caller could send many values that collide. */
const identityOf = (value: unknown): unknown => {
  if (typeof value === "string") return JSON.stringify(value)
  if (typeof value === "bigint") return `${value}n`
  if (!Predicate.isObjectOrArray(value)) return String(value)
  if (DateTime.isDateTime(value)) return `@${value.epochMilliseconds}`
  if (value instanceof Date) return `@${value.getTime()}`
  if (Array.isArray(value)) return `[${value.map(identityOf).join()}]`
  const keys = Object.keys(value).toSorted()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${String(identityOf(Reflect.get(value, key)))}`).join()}}`
}

const isListOf = (self: Field.Input): boolean => {
  const value = fields.valueOf(self)
  return value !== undefined && elementOf(value) !== undefined
}

// A check changes no type.
const checked = <F extends Field.Input>(self: F, check: Check): Field.Checked<F> =>
  fields.checked(self, check) as Field.Checked<F>

const atLeast = (bound: number, noun?: string) => named("Min", boundMessage("least", bound, noun), bound)

const atMost = (bound: number, noun?: string) => named("Max", boundMessage("most", bound, noun), bound)

type Check = SchemaAST.Check<never>

/** The check for the type of the field's values. A value that is neither a number nor a text has a length. */
const measured = (
  self: Field.Input,
  checks: { readonly number: () => Check; readonly text: () => Check; readonly list: () => Check }
): Check => {
  const { ast } = fields.valueOf(self) ?? Schema.Never
  return holdsNumbers(ast) ? checks.number() : holdsTexts(ast) ? checks.text() : checks.list()
}
