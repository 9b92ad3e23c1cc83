/** What a request expands. The code that embeds documents is loaded with the first request that asks for it. */
import * as Effect from "effect/Effect"
import type { Expand } from "../query/urlQuery.ts"
import type { HandlerFailure } from "../response/handlerFailures.ts"
import type { Doors, Embeddable } from "./embeddable.ts"
import type * as Plans from "./expansion.ts"

/** Decides what of the paths the caller may read. */
export const planned = (
  from: Pick<Embeddable, "limits" | "relations" | "view"> & { readonly doors: Doors },
  expand: Expand | undefined
): Effect.Effect<Plans.Expansion | undefined, HandlerFailure> =>
  expand === undefined
    ? Effect.undefined
    : Effect.flatMap(loaded(), ({ plan }) => plan(from, expand, from.doors))

// internal

// An `import` of what is loaded still resolves its name, and takes several turns.
let plans: typeof Plans | undefined

const loaded = (): Effect.Effect<typeof Plans> =>
  plans === undefined
    ? Effect.map(Effect.promise(() => import("./expansion.ts")), (module) => plans = module)
    : Effect.succeed(plans)
