/** Begins a body before its status is decided: what fails at once is answered by a status of its own. */
import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"

/** The same parts, once the first of them are there. */
export const begun = <A, E>(parts: Parts<A, E>): Effect.Effect<Parts<A, E>, Pull.ExcludeDone<E>> =>
  Effect.map(
    Pull.catchDone(
      Effect.map(parts, (first): Parts<A, never> => Effect.succeed(first)),
      () => Effect.succeed<Parts<A, never>>(Cause.done())
    ),
    (first) => {
      let hasBegun = false
      return Effect.suspend((): Parts<A, E> => {
        if (hasBegun) return parts
        hasBegun = true
        return first
      })
    }
  )

// internal

type Parts<A, E> = Pull.Pull<Arr.NonEmptyReadonlyArray<A>, E>
