/** A body of the service itself, which a write takes in the place of that of the request. */
import * as Context from "effect/Context"
import type { Return } from "./prefer.ts"

export interface Instead {
  readonly body: unknown
  /** Whether the body is a JSON Patch. */
  readonly isPatch: boolean
  /** The content of the response; that which the request prefers if `undefined`. */
  readonly prefer?: Return | undefined
}

export const BodyInstead = Context.Reference<Instead | undefined>("appkernel/Http/request/bodyInstead", {
  defaultValue: () => undefined
})
