/** A body of the service itself, which a write takes in the place of that of the request. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Document } from "../../Repository/DocumentStore.ts"
import type { DocumentNotFound } from "../../Repository/RepositoryError.ts"
import type { HttpError } from "../HttpError.ts"
import type { Return } from "./prefer.ts"

/** What is done for the files that a write brings, when it is done. */
export interface Brought {
  /** Removes their bytes, once nothing was written. */
  readonly discard: Effect.Effect<void>
  /** Begins to make their sizes, once they are written. */
  readonly written: Effect.Effect<void>
}

export interface Instead {
  /** What fields become, by what they are, if they are none that callers send in a body. */
  readonly server?: {
    readonly changesOf: (
      instance: object,
      stored: Document
    ) => Effect.Effect<Record<string, unknown>, DocumentNotFound | HttpError>
    readonly brought: Brought | undefined
  } | undefined
  readonly body: unknown
  /** Whether the body is a JSON Patch. */
  readonly isPatch: boolean
  /** The content of the response; that which the request prefers if `undefined`. */
  readonly prefer?: Return | undefined
}

export const BodyInstead = Context.Reference<Instead | undefined>("appkernel/Http/request/bodyInstead", {
  defaultValue: () => undefined
})
