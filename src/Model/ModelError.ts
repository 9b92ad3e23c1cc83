/**
 * The errors of a value that is not a valid instance of its model.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * One problem of one field. `field` is the dotted path (`address.city`, `lines.0.quantity`), empty for the complete
 * value. `validator` is the validator's type, `Required` for a missing value, `Type` for a value of the wrong type.
 * `message` follows the field's label: `must be a number`.
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
 * Occurs when a required field has no value. `problems` lists all problems, this one first.
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
 * Occurs when a value breaks a validator or has the wrong type, and no required field is missing. `problems` lists all
 * problems, this one first. `value` is the input; it is absent for an omitted field and for a value with parts.
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
 * The errors of finalisation.
 *
 * @category errors
 * @since 0.1.0
 */
export type ModelError = PropertyRequiredException | ValidationException
