import type * as Schema from "effect/Schema"
import type { Converter } from "../Converter.ts"
import type { Index } from "../FieldIndex.ts"
import type { Generator } from "../Generator.ts"
import type { Marshaller } from "../Marshaller.ts"
import type { notEmptyTypeId } from "../shape/annotations.ts"
import type { FieldInput } from "../shape/fields.ts"

/**
 * The attributes of a field of type `A` that `Model.field` takes.
 */
export interface Attributes<A> {
  /** Whether the field must have a value. Defaults to false, and to true with `Validator.notEmpty`. */
  readonly required?: boolean | undefined
  /** The value for a missing one, or a function that returns it. */
  readonly default?: A | (() => A) | undefined
  /** Validators of the value: the combinators of `Validator`. A converter's output has to satisfy them. */
  readonly validators?: ReadonlyArray<((self: ValidatorInput<A>) => FieldInput) | RequiringValidator<A>> | undefined
  /** Supplies a missing value before the default applies. */
  readonly generator?: Generator<A | undefined> | undefined
  /** Converts a given value. */
  readonly converter?: Converter<A> | undefined
  /** The forms of the value in the store and on the wire. */
  readonly marshaller?: AnyMarshaller<A> | undefined
  /** Whether the field is excluded from every output. Defaults to false. */
  readonly omit?: boolean | undefined
  /** Whether callers read the field and can't send it. Defaults to false. */
  readonly readOnly?: boolean | undefined
  readonly index?: Index | undefined
}

type ValidatorInput<A> = Schema.Top & { readonly Type: A }

/**
 * A validator that makes the field required. It has a type of its own next to the other validators, so that the compiler
 * keeps the properties of each array element.
 */
interface RequiringValidator<A> {
  (self: ValidatorInput<A>): FieldInput
  readonly [notEmptyTypeId]: true
}

type AnyMarshaller<A> = Marshaller<
  Schema.Top & { readonly Type: A },
  Schema.Top & { readonly Type: A }
>
