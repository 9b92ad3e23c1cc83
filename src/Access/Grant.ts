/**
 * Grants: who may do what, to which documents, and with which of their fields.
 *
 * **Details**
 *
 * What a caller may see of a document is what the grants whose rows have this document give together. A document that is in the
 * rows of no grant does not exist for the caller.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Model from "../Model/Model.ts"
import type * as Query from "../Repository/Query.ts"
import type * as Permission from "./Permission.ts"

/**
 * The row filter of a grant: a condition that follows from the caller, synchronously, or as an effect that reads
 * all data. The effect runs once for a request; its condition should name a bounded number of values. A condition with a value that is
 * `undefined` matches no document.
 *
 * @category models
 * @since 0.1.0
 */
export type Rows<M extends Model.Any, Me, R> = (
  me: Me
) => Query.Where<M> | Effect.Effect<Query.Where<M>, Permission.Failure, R>

/**
 * The caller as rules see them: there may be none where the permission admits callers without credentials.
 *
 * @category models
 * @since 0.1.0
 */
export type Me<P> = Permission.IsOpen<P> extends true ? Option.Option<Permission.Caller> : Permission.Caller

/**
 * What a grant gives to those whom its permission admits.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<M extends Model.Any, On extends string, Me, R, Hidden extends string = string> {
  /** The methods, and the names of actions. Defaults to all methods, and the actions without a rule of their own. */
  readonly methods?: On | ReadonlyArray<On> | undefined
  /** The documents. Defaults to all. */
  readonly rows?: Rows<M, Me, R> | undefined
  /** What a write may leave behind. Defaults to `rows`. */
  readonly check?: Rows<M, Me, R> | undefined
  /** The fields that are neither shown nor written. */
  readonly hide?: ReadonlyArray<Hidden> | undefined
  /** The fields that are shown and not written. */
  readonly readOnly?: ReadonlyArray<Query.Path<M>> | undefined
}

/**
 * The fields that a grant takes away, as dotted paths.
 *
 * @category models
 * @since 0.1.0
 */
export interface Fields {
  readonly hide: ReadonlyArray<string>
  readonly readOnly: ReadonlyArray<string>
}

/**
 * The rows of a rule of any model. Which caller they take follows from the permission. Their services are those of the
 * server, as the types of the engine say.
 *
 * @category models
 * @since 0.1.0
 */
export type AnyRows = Rows<Model.Any, never, never>

/**
 * A rule of a registration. `require` and `grant` add one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rule {
  readonly permission: Permission.Any
  /** Whether the rule is the option `require` of a call. Rules about all endpoints then don't apply to that call. */
  readonly isOwn: boolean
  /** The methods and calls; all if `undefined`. */
  readonly on: ReadonlyArray<string> | undefined
  /** Where the permission admits callers without credentials, `rows` and `check` take an option. */
  readonly rows: AnyRows | undefined
  readonly check: AnyRows | undefined
  readonly fields: Fields | undefined
}

/**
 * The rules of a registration. Without a rule, nobody may do anything.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rules {
  /** Alternatives. */
  readonly grants: ReadonlyArray<Rule>
  /** Row filters that every document matches that a caller reads or writes, whatever the grants say. */
  readonly restrictions: ReadonlyArray<AnyRows>
  /** The numbers of the grants for a method or a call. For a call with the option `require`, only those count that name it. */
  readonly idsFor: (name: string, isOperation: boolean) => ReadonlyArray<number>
}
