/**
 * What is wrong with a request, before it is known which operation it belongs to.
 */
import * as Result from "effect/Result"
import { QueryRejected, StoreUnavailable, Unsupported } from "../../RepositoryError.ts"

/** @internal */
export interface Problem {
  readonly kind: "rejected" | "unsupported" | "overtaken"
  readonly text: string
  /** What the caller can do about it. */
  readonly advice?: string
}

/** @internal */
export const rejected = (text: string, advice?: string): Problem =>
  advice === undefined ? { kind: "rejected", text } : { kind: "rejected", text, advice }

/** @internal */
export const unsupported = (feature: string): Problem => ({ kind: "unsupported", text: feature })

/**
 * Something happened in the meantime that has not to happen the next time.
 *
 * @internal
 */
export const overtaken = (text: string): Problem => ({ kind: "overtaken", text })

/** @internal */
export const toError = (
  { advice, kind, text }: Problem,
  operation: string
): QueryRejected | StoreUnavailable | Unsupported => {
  switch (kind) {
    case "rejected":
      return new QueryRejected(
        advice === undefined ? { operation, detail: text } : { operation, detail: `${text}: ${advice}`, advice }
      )
    case "unsupported":
      return new Unsupported({ operation, feature: text })
    case "overtaken":
      return new StoreUnavailable({ operation, detail: text, retryable: true })
  }
}

/**
 * The way out of what mingo calls; whoever calls mingo makes a refusal of it.
 *
 * @internal
 */
export const refuse = (reason: string): never => Result.getOrThrowWith(Result.fail(reason), (text) => new Error(text))
