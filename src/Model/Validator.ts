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
import type * as DateTime from "effect/DateTime"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import type { Field } from "./Field.ts"
import { validatorAnnotation, type ValidatorEntry } from "./internal/annotations.ts"
import * as fields from "./internal/fields.ts"

/**
 * The value is not empty: text or a list with at least one element.
 *
 * @category combinators
 * @since 0.1.0
 */
export const notEmpty = <F extends Field.Holding<{ readonly length: number }>>(self: F): Field.Checked<F> =>
  checked(self, Schema.isMinLength(1, named("NotEmpty", "must not be empty")))

/**
 * The text matches the pattern; give it the `u` flag and anchors.
 *
 * @category combinators
 * @since 0.1.0
 */
export const regexp = (pattern: RegExp) => <F extends Field.Holding<string>>(self: F): Field.Checked<F> =>
  checked(self, Schema.isPattern(pattern, named("Regexp", `must match ${pattern.source}`, pattern.source)))

/**
 * The text has the form of an e-mail address, as HTML's `input type=email` defines it, with a dot in its domain.
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
 * The moment is not after now.
 *
 * @category combinators
 * @since 0.1.0
 */
export const past = <F extends Field.Holding<DateTime.DateTime>>(self: F): Field.Checked<F> =>
  checked(
    self,
    Schema.makeFilter(
      (value: DateTime.DateTime) => value.epochMilliseconds <= now(),
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

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Measurable = number | string | { readonly length: number }

const emailPattern =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+$/u

// A filter is a plain function, so it asks the fiber that runs it for its clock.
const now = (): number =>
  (Fiber.getCurrent()?.getRef(Clock.Clock) ?? Clock.Clock.defaultValue()).currentTimeMillisUnsafe()

const named = (type: string, message: string, value?: unknown) => {
  const entry: ValidatorEntry = value === undefined ? { type } : { type, value }
  return { message, [validatorAnnotation]: entry }
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
