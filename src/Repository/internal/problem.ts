/**
 * What is wrong with a request, before it is known which operation it belongs to.
 */
import { QueryRejected, Unsupported } from "../RepositoryError.ts"

/** @internal */
export interface Problem {
  readonly kind: "rejected" | "unsupported"
  readonly text: string
}

/** @internal */
export const rejected = (text: string): Problem => ({ kind: "rejected", text })

/** @internal */
export const unsupported = (feature: string): Problem => ({ kind: "unsupported", text: feature })

/** @internal */
export const toError = ({ kind, text }: Problem, operation: string): QueryRejected | Unsupported =>
  kind === "rejected" ? new QueryRejected({ operation, detail: text }) : new Unsupported({ operation, feature: text })
