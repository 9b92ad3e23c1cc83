/** The relevance of a document to a text search in sorts and projections: `{ $meta: "textScore" }`. */
import type { Document } from "@appkernel/document-store/StoreTypes"
import * as Result from "effect/Result"
import type { Direction } from "../bson/path.ts"
import { isDocument, setField } from "../bson/value.ts"
import type { ExpressionContext } from "../expression/expression.ts"
import type { Search } from "../filter/parseFilter.ts"
import type { Problem } from "../limits/queryProblem.ts"
import { parseProjection, type Projection } from "./parseProjection.ts"

export const isScore = (value: unknown): value is { readonly $meta: "textScore" } =>
  isDocument(value) && Object.keys(value).length === 1 && value["$meta"] === "textScore"

// It can't collide: no field's name contains a null character.
const scoreField = "\0score"

/** Sorts the most relevant document first. */
export const byScore: Direction = { path: [scoreField], descending: true }

export const isByScore = (direction: Direction): boolean => direction === byScore

/** A copy of the document with its score, for {@link byScore}. */
export const withScore = (document: Document, search: Search): Document => ({
  ...document,
  [scoreField]: search.score(document)
})

/** Parses the projection of a text search. */
export const parseScoredProjection = (
  projection: Document,
  context: ExpressionContext,
  search: Search
): Result.Result<Projection | undefined, Problem> => {
  const entries = Object.entries(projection)
  const names = entries.filter(([, value]) => isScore(value)).map(([name]) => name)
  return Result.map(
    parseProjection(Object.fromEntries(entries.filter(([, value]) => !isScore(value))), context),
    (project): Projection | undefined =>
      names.length === 0 ?
        project :
        (document) => {
          const scored = { ...project === undefined ? document : project(document) }
          const score = search.score(document)
          for (const name of names) setField(scored, name, score)
          return scored
        }
  )
}
