/** What a request expands. The code that embeds documents is loaded with the first request that asks for it. */
import * as Effect from "effect/Effect"
import type { Expand } from "../query/urlQuery.ts"
import type { HandlerFailure } from "../response/handlerFailures.ts"
import type { Doors, Embeddable } from "./embeddable.ts"
import type { Expansion } from "./expansion.ts"

/** Decides what of the paths the caller may read. */
export const planned = (
  from: Pick<Embeddable, "limits" | "relations" | "view"> & { readonly doors: Doors },
  expand: Expand | undefined
): Effect.Effect<Expansion | undefined, HandlerFailure> =>
  expand === undefined
    ? Effect.undefined
    : Effect.flatMap(Effect.promise(() => import("./expansion.ts")), ({ plan }) => plan(from, expand, from.doors))
