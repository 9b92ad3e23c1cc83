/** Generated ends of pipelines that write: `$merge` and `$out`. */
import { Arbitrary } from "effect"
import type { Document } from "../../../packages/document-store/src/DocumentStore.ts"
import { either, oneOf, type Some } from "../choices.ts"
import { kindsWith } from "./expressions.ts"
import { pipelines } from "./pipelines.ts"
import { listOf, record, weighted } from "./values.ts"

/** What the collection that a pipeline writes to has before: `n` is unique in it. */
export const targetDocuments: ReadonlyArray<Document> = [
  { _id: 1, n: 1, s: "old" },
  { _id: 2, n: 2, o: { x: 1 } },
  { _id: "a", n: "a", l: [1] }
]

const k = kindsWith(["$$new.n", "$$new"])

const changes: Some<unknown> = listOf(
  either<Document>(
    record({ $set: record({ r: k.any }) }),
    record({ $set: record({ "o.y": k.number, n: k.number }) }),
    oneOf<Document>({ $unset: "s" }, { $replaceWith: { $mergeObjects: ["$$ROOT", "$$new"] } })
  ),
  2,
  1
)

const merges: Some<unknown> = either<unknown>(
  record({ into: oneOf("out") }),
  record({
    into: oneOf("out", "out", "same", "none"),
    whenMatched: weighted<unknown>([4, oneOf("merge", "replace", "keepExisting", "fail")], [2, changes]),
    whenNotMatched: oneOf("insert", "discard", "fail")
  }),
  record({
    into: oneOf("out"),
    on: oneOf<unknown>("n", ["n"], "s"),
    whenMatched: weighted<unknown>([4, oneOf("merge", "replace", "keepExisting")], [1, changes]),
    whenNotMatched: oneOf("insert", "discard")
  })
)

const ends: Some<Document> = weighted<Document>(
  [3, record({ $merge: merges })],
  [1, oneOf<Document>({ $out: "out" }, { $out: "same" }, { $out: "none" })]
)

// Each store would generate identifiers of its own.
const identified: Document = { $set: { _id: { $ifNull: ["$_id", "none"] } } }

export const writingPipelines: Some<ReadonlyArray<Document>> = Arbitrary.map(
  Arbitrary.all([pipelines, ends]),
  ([stages, end]) => [...stages, identified, end]
)

/** The pipeline with the names of the collections of a scenario. */
export const withTargets = (pipeline: ReadonlyArray<Document>, name: string): ReadonlyArray<Document> => {
  const names = new Map<unknown, string>([["same", name], ["out", `${name} out`], ["none", `${name} none`]])
  const named = (stage: Document): Document => {
    const merge = stage["$merge"]
    if ("$out" in stage) return { $out: names.get(stage["$out"]) ?? stage["$out"] }
    if (typeof merge !== "object" || merge === null) return stage
    const { into, ...others } = merge as Document
    return { $merge: { into: names.get(into) ?? into, ...others } }
  }
  return pipeline.map(named)
}
