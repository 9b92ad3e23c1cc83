/** The validator of a collection: a JSON schema that written documents have to fulfil. */
import type { Document, ValidatorOptions } from "@appkernel/document-store/DocumentStore"
import { describeBroken } from "@appkernel/document-store/internal"
import { beginEvaluation, catchRejection, parseJsonSchema, type Problem, queryProblem } from "@appkernel/mql/internal"
import * as Result from "effect/Result"

export interface Validator {
  readonly jsonSchema: Document
  readonly action: "warn" | "error"
  /** Why a document is rejected; `undefined` if it is valid. */
  readonly problemOf: (document: Document) => Problem | undefined
}

/** Parses a normalised schema. */
export const parseValidator = (
  jsonSchema: Document,
  { action = "error" }: ValidatorOptions = {}
): Result.Result<Validator, Problem> =>
  Result.map(catchRejection(() => parseJsonSchema(jsonSchema)), ({ accepts, broken }) => ({
    jsonSchema,
    action,
    problemOf: (document) => {
      beginEvaluation()
      return Result.match(
        catchRejection(() => accepts(document) ? undefined : queryProblem(describeBroken(broken(document, [])))),
        { onFailure: (problem) => problem, onSuccess: (problem) => problem }
      )
    }
  }))
