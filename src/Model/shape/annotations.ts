import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Converter } from "../Converter.ts"
import type { Index } from "../FieldIndex.ts"

/**
 * Marks the stored side of a date or a date-time.
 *
 * @internal
 */
export const temporalKind = "appkernel/temporal"

/**
 * Where a check carries the name and the argument under which a validator is reported.
 *
 * @internal
 */
export const validatorAnnotation = "appkernel/validator"

/**
 * Marks the validator that asks for a value to be there.
 *
 * @internal
 */
export const notEmptyTypeId = "~appkernel/Validator/notEmpty"

/**
 * Where a check of a whole struct carries the field that it is about.
 *
 * @internal
 */
export const relatedAnnotation = "appkernel/related"

/**
 * Marks the checks that say which values can be stored.
 *
 * @internal
 */
export const storableAnnotation = "appkernel/storable"

/**
 * Where a model's class and its variants carry the model, as a function, since the class is annotated before it exists.
 *
 * @internal
 */
export const modelAnnotation = "appkernel/model"

/**
 * What a validator says of itself.
 *
 * @internal
 */
export interface ValidatorEntry {
  readonly type: string
  readonly value?: unknown
}

/**
 * What a field has beyond its type.
 *
 * @internal
 */
export interface FieldAttributes {
  /** Supplies a value when there is none. */
  readonly generator?: Effect.Effect<unknown> | undefined
  /** The value when there is none and no generator. */
  readonly default?: (() => unknown) | undefined
  /** Changes a value that is there, before validation. */
  readonly converter?: Converter<unknown> | undefined
  /** What a value has to be that is yet to be converted. */
  readonly unconverted?: Schema.Top | undefined
  /** Need not be there; `null` is as good as nothing. */
  readonly optional?: boolean | undefined
  /** Stored and sent in forms of its own. */
  readonly marshalled?: boolean | undefined
  /** Never part of an output. */
  readonly omitted?: boolean | undefined
  /** Set by the server: seen by a caller, and not sent. */
  readonly readOnly?: boolean | undefined
  readonly index?: Index | undefined
  /**
   * The place that the framework itself keeps up to date: the identifier, the version, the audit, the deletion, the
   * number of the state.
   */
  readonly managed?:
    | "id"
    | "version"
    | "inserted"
    | "updated"
    | "created_by"
    | "updated_by"
    | "deleted"
    | "revision"
    | undefined
}
