/** The validator of a collection: a JSON schema that written documents have to fulfil. */
import * as Result from "effect/Result"
import { describeBroken } from "../../../internal/brokenRules.ts"
import type { Document, ValidatorOptions } from "../../DocumentStore.ts"
import { beginEvaluation } from "../../mql/limits/costBudget.ts"
import { catchRejection, type Problem, rejected } from "../../mql/limits/queryProblem.ts"
import { parseJsonSchema } from "../../mql/schema/jsonSchema.ts"

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
        catchRejection(() => accepts(document) ? undefined : rejected(describeBroken(broken(document, [])))),
        { onFailure: (problem) => problem, onSuccess: (problem) => problem }
      )
    }
  }))
