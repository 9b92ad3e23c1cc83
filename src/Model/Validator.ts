/**
 * Rules for the value of a field.
 *
 * A validator is an Effect Schema filter: it composes with every other one, works in any schema, brings its constraint
 * to the JSON schema, and is named in the metadata and in the problems that a caller is told. It stands anywhere in a
 * field's pipe; a value that may be missing is looked at only when it is there.
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
import { notEmptyTypeId, relatedAnnotation, validatorAnnotation, type ValidatorEntry } from "./shape/annotations.ts"
import * as fields from "./shape/fields.ts"
import { asUnicode } from "./shape/unicodePattern.ts"
import { elementOf } from "./shape/variants.ts"

/**
 * The value is not empty: text or a list with at least one element. Among the validators of `Model.field` it also says
 * that there is a value; in a pipe it is asked of what is there.
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
 * The text matches the pattern. Anchor it, and give it the flag `u`: without it, the pattern is part of the JSON schema
 * only where it means the same with it.
 *
 * @category combinators
 * @since 0.1.0
 */
export const regexp = (pattern: RegExp) => <F extends Field.Holding<string>>(self: F): Field.Checked<F> =>
  checked(self, Schema.isPattern(asUnicode(pattern), named("Regexp", `must match ${pattern.source}`, pattern.source)))

/**
 * The text has the form of an e-mail address: that of HTML's `input type=email`, with a dot in its domain, and without
 * dots at the ends of the local part or next to each other (RFC 5321, section 4.1.2). Takes time in proportion to the
 * text's length.
 *
 * @category combinators
 * @since 0.1.0
 */
export const email = <F extends Field.Holding<string>>(self: F): Field.Checked<F> =>
  checked(self, Schema.isPattern(emailPattern, { ...named("Email", "must be an e-mail address"), format: "email" }))

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
      number: () => Schema.isGreaterThanOrEqualTo(bound, named("Min", `must be at least ${bound}`, bound)),
      text: () =>
        Schema.isMinCodePoints(bound, named("Min", `must have at least ${counted(bound, "character")}`, bound)),
      list: () => Schema.isMinLength(bound, named("Min", `must have at least ${counted(bound, "element")}`, bound))
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
      number: () => Schema.isLessThanOrEqualTo(bound, named("Max", `must be at most ${bound}`, bound)),
      text: () =>
        Schema.isMaxCodePoints(bound, named("Max", `must have at most ${counted(bound, "character")}`, bound)),
      list: () => Schema.isMaxLength(bound, named("Max", `must have at most ${counted(bound, "element")}`, bound))
    })
  )

/**
 * The moment is not after now, but for a second: clocks of several machines differ.
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
 * The moment is after now.
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
 * No two values are the same. A list: no two of its elements. Anything else: no two documents of the collection, by a
 * unique index; a write that breaks it fails with `DuplicateKey`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const unique = <F extends Field.Input>(self: F): Field.Same<F> =>
  isListOf(self)
    ? fields.evolve(fields.checked(self, distinct), {})
    : fields.evolve(fields.checked(self, indexedAsUnique), {}, { index: Index.unique })

/**
 * A rule of your own for one value. `type` names it in problems and metadata; `isValid` must be pure.
 *
 * **Example** (A rule of your own)
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
 * A rule of your own that looks at all fields, and is reported for one of them. It is a filter for any struct, and stands
 * among the `validators` of a model.
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
 * What a validator of your own says of itself.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** What is wrong, to go behind the field's name: `must be even`. The value is not to be part of it. */
  readonly message: string
  /** The validator's argument, for the metadata. */
  readonly value?: unknown
  /** The constraint in JSON schema (draft-04), where it can be said there: `{ multipleOf: 2 }`. */
  readonly jsonSchema?: { readonly [keyword: string]: Schema.Json } | undefined
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Measurable = number | string | { readonly length: number }

const emailPattern =
  /^[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+)*@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+$/u

/** By how many milliseconds the clock of whoever made a moment may be ahead. */
const maxSkew = 1_000

// A filter is a plain function, so it asks the fiber that runs it for its clock.
const now = (): number =>
  (Fiber.getCurrent()?.getRef(Clock.Clock) ?? Clock.Clock.defaultValue()).currentTimeMillisUnsafe()

const named = (type: string, message: string, value?: unknown) => {
  const entry: ValidatorEntry = value === undefined ? { type } : { type, value }
  return { message, [validatorAnnotation]: entry }
}

const annotations = (type: string, { jsonSchema, message, value }: Options, field?: string) => ({
  ...named(type, message, value),
  ...(field === undefined ? {} : { [relatedAnnotation]: field }),
  ...(jsonSchema === undefined ? {} : { toJsonSchema: () => jsonSchema })
})

const indexedAsUnique = Schema.makeFilter(() => true, named("Unique", "must be unique"))

// Effect's own filter compares each element with every other one.
const distinct = Schema.makeFilter(
  (values: ReadonlyArray<unknown>) => new Set(values.map(identityOf)).size === values.length,
  { ...Schema.isUnique().annotations, ...named("Unique", "must not have an element twice") }
)

/** Text that equal values share, and no others. A hash would let a caller send many values with the same one. */
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

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`

type Check = SchemaAST.Check<never>

/** The check for what the values of the field are; whatever is neither number nor text has a length of its own. */
const measured = (
  self: Field.Input,
  checks: { readonly number: () => Check; readonly text: () => Check; readonly list: () => Check }
): Check => {
  const { ast } = fields.valueOf(self) ?? Schema.Never
  return isMadeOf("number", ast) ? checks.number() : isMadeOf("string", ast) ? checks.text() : checks.list()
}

const isMadeOf = (kind: "number" | "string", ast: SchemaAST.AST): boolean => {
  switch (ast._tag) {
    case "Number":
      return kind === "number"
    case "String":
    case "TemplateLiteral":
      return kind === "string"
    case "Literal":
      return typeof ast.literal === kind
    case "Enum":
      return ast.enums.every(([, value]) => typeof value === kind)
    case "Union":
      return ast.types.every((type) => isMadeOf(kind, type))
    default:
      return false
  }
}
