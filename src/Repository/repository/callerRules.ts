/**
 * The rules on documents (rows) of the caller for whom a fiber runs. Repositories apply them in every operation.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { ModelLike } from "../../Model/introspection.ts"
import type { Filter } from "../DocumentStore.ts"
import type { ReadError } from "../RepositoryError.ts"

/**
 * The kinds of operations that rules distinguish.
 *
 * @internal
 */
export type Access = "read" | "insert" | "update" | "delete"

/**
 * The documents of one model that a caller may reach and write. A rule returns the same filter each time, which is then
 * parsed once.
 *
 * @internal
 */
export interface RowRules {
  /** The documents that an operation reaches. `undefined`: all. For an insert, those that are read after it. */
  readonly rows: (access: Access) => Filter | undefined
  /** The documents that a write may leave behind. `undefined`: any. */
  readonly check: (access: "insert" | "update") => Filter | undefined
  /**
   * The grants for updates, one of which has to admit the document before and after the write. Without them, `rows` and
   * `check` together say it all.
   */
  readonly grants?: (() => ReadonlyArray<UpdateGrant> | undefined) | undefined
}

/**
 * What an update may do by one grant: which documents it reaches, and what it may leave behind. `undefined`: all, anything.
 *
 * @internal
 */
export interface UpdateGrant {
  readonly rows: Filter | undefined
  readonly check: Filter | undefined
}

/**
 * The rules of a caller for each model.
 *
 * @internal
 */
export interface CallerRules {
  /** The rules for the model's documents. `undefined`: the caller reaches and writes all of them. */
  readonly of: (model: ModelLike) => Effect.Effect<RowRules | undefined, ReadError>
  /** Is told of each write that the rules refuse. */
  readonly refused?: ((model: ModelLike, operation: "insert" | "replace" | "update") => Effect.Effect<void>) | undefined
  /**
   * The rules for everything but the document that a request addresses, if they are others: for what handlers and hooks do,
   * and for what a write refers to.
   */
  readonly elsewhere?: CallerRules | undefined
}

/**
 * The rules of the caller for whom the fiber runs. `undefined`: there is no caller, and no rule.
 *
 * @internal
 */
export const CallerRules = Context.Reference<CallerRules | undefined>("appkernel/Repository/CallerRules", {
  defaultValue: () => undefined
})

/**
 * Runs an operation under these rules for documents of the model, in the place of the caller's.
 *
 * @internal
 */
export const underRules = <A, E, R>(
  operation: Effect.Effect<A, E, R>,
  model: ModelLike,
  rules: RowRules | undefined
): Effect.Effect<A, E, R> =>
  rules === undefined ? operation : Effect.withFiber((fiber) => {
    const others = fiber.getRef(CallerRules)
    return Effect.provideService(operation, CallerRules, {
      of: (other) => other === model ? Effect.succeed(rules) : others?.of(other) ?? Effect.undefined,
      elsewhere: others?.elsewhere ?? others
    })
  })

/**
 * Runs an operation that is not about the document which a request addresses: the handler of an action, a hook, or the search
 * for what a write refers to.
 *
 * @internal
 */
export const underRulesElsewhere = <A, E, R>(operation: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const rules = fiber.getRef(CallerRules)?.elsewhere
    return rules === undefined ? operation : Effect.provideService(operation, CallerRules, rules)
  })

/**
 * The filter that matches no document.
 *
 * @internal
 */
export const nothing: Filter = { _id: { $in: [] } }
