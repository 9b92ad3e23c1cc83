/**
 * Why a value is not an instance of its model.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * One thing that is wrong with one field. `field` is the path with dots (`address.city`, `lines.0.quantity`), empty for
 * the whole; `validator` is the validator's type, `Required` for a missing value, `Type` for a value of another kind;
 * `message` goes behind the field's label: `must be a number`.
 *
 * @category models
 * @since 0.1.0
 */
export class Problem extends Schema.Class<Problem>("Problem")({
  field: Schema.String,
  validator: Schema.String,
  message: Schema.String
}) {}

/**
 * Occurs when a required field has no value. `problems` has everything that is wrong, this one first.
 *
 * @category errors
 * @since 0.1.0
 */
export class PropertyRequiredException
  extends Schema.TaggedError<PropertyRequiredException>()("PropertyRequiredException", {
    model: Schema.String,
    field: Schema.String,
    problems: Schema.Array(Problem)
  })
{
  override get message(): string {
    return `The property ${this.field} on class ${this.model} is required`
  }
}

/**
 * Occurs when a value breaks a validator or has the wrong type, and nothing required is missing. `problems` has
 * everything that is wrong, this one first. `value` is what was given; it is left out for a field that is omitted from
 * output, and for a value with parts of its own.
 *
 * @category errors
 * @since 0.1.0
 */
export class ValidationException extends Schema.TaggedError<ValidationException>()("ValidationException", {
  model: Schema.String,
  validator: Schema.String,
  field: Schema.String,
  value: Schema.optionalKey(Schema.Unknown),
  detail: Schema.String,
  problems: Schema.Array(Problem)
}) {
  override get message(): string {
    return this.field === ""
      ? `The ${this.model} ${this.detail}`
      : `The property ${this.field} on class ${this.model} ${this.detail}`
  }
}

/**
 * Everything that finalisation may fail with.
 *
 * @category errors
 * @since 0.1.0
 */
export type ModelError = PropertyRequiredException | ValidationException
