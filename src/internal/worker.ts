/** What a worker knows about itself and the primary process, for parts that processes have to share. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { DeclarationError } from "./declarationError.ts"

/** What a worker asks the primary process. */
export type Question =
  | { readonly kind: "metrics" }
  | { readonly kind: "take" | "giveBack"; readonly key: string; readonly limit: number; readonly millis: number }

/** One of several processes that serve one port. */
export interface Worker {
  /** From 1 on. The process that takes the place of one has its number. */
  readonly id: number
  /** Fails when the primary process does not answer in time. */
  readonly ask: (question: Question) => Effect.Effect<unknown, { readonly message: string }>
  /** Says how the process answers when the primary one asks for its metrics. */
  readonly answerMetrics: (textOf: () => string) => void
}

/** The worker that this process is; `undefined` where a service is one process. */
export const CurrentWorker: Context.Reference<Worker | undefined> = Context.Reference<Worker | undefined>(
  "appkernel/internal/worker",
  { defaultValue: () => undefined }
)

/** Dies in a worker: what is in one process alone can't be shared. */
export const refuseWorkers: Effect.Effect<void> = Effect.flatMap(
  CurrentWorker,
  (worker) =>
    worker === undefined ? Effect.void : Effect.die(
      new DeclarationError(
        "server.workers needs a store that several processes share, such as MongoDB: one process has the embedded store"
      )
    )
)
