/** Why a query is rejected, as data: the caller adds the operation and makes an error of it. */
import { rethrow } from "@appkernel/document-store/internal"
import { QueryRejected, StoreUnavailable, Unsupported } from "@appkernel/document-store/StoreError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

export interface Problem {
  readonly kind: "rejected" | "unsupported" | "conflict"
  readonly text: string
  /** How the caller can avoid the rejection. */
  readonly advice?: string
}

export const queryProblem = (text: string, advice?: string): Problem =>
  advice === undefined ? { kind: "rejected", text } : { kind: "rejected", text, advice }

export const unsupported = (feature: string): Problem => ({ kind: "unsupported", text: feature })

/** A concurrent change has made the operation fail; a retry may succeed. */
export const conflict = (text: string): Problem => ({ kind: "conflict", text })

/** The errors of queries. */
export type QueryFailure = QueryRejected | StoreUnavailable | Unsupported

export const toError = (
  { advice, kind, text }: Problem,
  operation: string
): QueryFailure => {
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

/** Succeeds with a result, or fails with the error of its problem. */
export const fromProblem = <A>(
  result: Result.Result<A, Problem>,
  operation: string
): Effect.Effect<A, QueryFailure> =>
  Effect.fromResult(Result.mapError(result, (problem) => toError(problem, operation)))

/**
 * Throws a rejection; {@link catchRejection} makes a {@link Problem} of it. Parsers and what they make return plain values,
 * since a `Result` for each value of a document would double its time. Whoever runs them, an operation or a step of it,
 * catches the rejection once.
 */
export const reject = (reason: string): never => rejectWith(queryProblem(reason))

export const rejectWith = (problem: Problem): never => rethrow(new Rejection(problem))

/** Runs parsing or evaluation that may {@link reject}. */
export const catchRejection = <A>(run: () => A): Result.Result<A, Problem> =>
  Result.try({ try: run, catch: problemOfThrown })

/** The value of a result; {@link reject}s a failure. */
export const orReject = <A>(result: Result.Result<A, Problem>): A => Result.getOrElse(result, rejectWith)

/** The problem of what an evaluation has thrown. */
// Truncated, since some messages contain a value of any length.
export const problemOfThrown = (thrown: unknown): Problem =>
  thrown instanceof Rejection
    ? { ...thrown.problem, text: thrown.problem.text.slice(0, maxMessage) }
    : queryProblem((thrown instanceof Error ? thrown.message : String(thrown)).slice(0, maxMessage))

// internal

const maxMessage = 500

class Rejection extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.text)
    this.problem = problem
  }
}
