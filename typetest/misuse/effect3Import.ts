/** The cause is `@effect/platform`: a package of Effect 3, which is part of `effect` now. */
import { HttpRouter } from "@effect/platform"

export const router = HttpRouter.empty
