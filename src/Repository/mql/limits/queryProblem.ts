/**
 * Why a query is rejected, as data: the caller adds the operation and makes an error of it.
 */
import * as Result from "effect/Result"
import { QueryRejected, StoreUnavailable, Unsupported } from "../../RepositoryError.ts"

/** @internal */
export interface Problem {
  readonly kind: "rejected" | "unsupported" | "conflict"
  readonly text: string
  /** How the caller can avoid the rejection. */
  readonly advice?: string
}

/** @internal */
export const rejected = (text: string, advice?: string): Problem =>
  advice === undefined ? { kind: "rejected", text } : { kind: "rejected", text, advice }

/** @internal */
export const unsupported = (feature: string): Problem => ({ kind: "unsupported", text: feature })

/**
 * A concurrent change has made the operation fail; a retry may succeed.
 *
 * @internal
 */
export const conflict = (text: string): Problem => ({ kind: "conflict", text })

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
    case "conflict":
      return new StoreUnavailable({ operation, detail: text, retryable: true })
  }
}

/**
 * Throws a rejection out of a callback of mingo; the caller of mingo catches it and makes a {@link Problem} of it.
 *
 * @internal
 */
export const reject = (reason: string): never => Result.getOrThrowWith(Result.fail(reason), (text) => new Error(text))
