/** Maps long lists without blocking the event loop. */
import * as Effect from "effect/Effect"

/** What a function makes of each item, a few in each turn of the event loop, so that others run in between. */
export const mapInSteps = <A, B>(
  items: ReadonlyArray<A>,
  f: (item: A) => B
): Effect.Effect<ReadonlyArray<B>> =>
  items.length <= perTurn
    ? Effect.sync(() => items.map((item) => f(item)))
    : Effect.map(
      Effect.forEach(
        // `Array.chunksOf` copies all that is left for each chunk.
        Array.from({ length: Math.ceil(items.length / perTurn) }, (_, i) => i * perTurn),
        (from) =>
          Effect.andThen(
            Effect.yieldNow,
            Effect.sync(() => items.slice(from, from + perTurn).map((item) => f(item)))
          )
      ),
      (made) => made.flat()
    )

// internal

// Documents may be large.
const perTurn = 32
