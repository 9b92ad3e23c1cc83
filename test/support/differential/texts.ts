/** Generated searches for words in `s` and `w`, by a text index. */
import { Arbitrary } from "effect"
import type { Document, IndexDescription } from "../../../packages/document-store/src/DocumentStore.ts"
import { either, oneOf, type Some } from "../choices.ts"
import { common, listOf, record, weighted } from "./values.ts"

/** Texts whose words often meet: in other cases and forms, with stop words, marks and diacritics. */
export const sentences: Some<unknown> = weighted<unknown>(
  [
    8,
    oneOf<unknown>(
      "red apples",
      "The RED apple, the red pie",
      "an apple-pie",
      "running",
      "He runs to the café",
      "Cafe",
      "the",
      "x_y 12 é",
      "pies pie PIE",
      ""
    )
  ],
  [1, listOf(oneOf<unknown>("red", "pie apple", 1, "cafés"), 3)],
  [1, common]
)

export const textIndexes: Some<ReadonlyArray<IndexDescription>> = oneOf<ReadonlyArray<IndexDescription>>(
  [{ name: "texts", key: { s: "text" } }],
  [{ name: "texts", key: { s: "text", w: "text" } }],
  [{ name: "texts", key: { s: "text", w: "text" }, weights: { s: 1, w: 5 } }],
  [{ name: "texts", key: { s: "text", w: "text" }, defaultLanguage: "none" }, { name: "n", key: { n: 1 } }]
)

const searches = oneOf<unknown>(
  "apple",
  "Apples red",
  "run",
  "the",
  "cafe",
  "CAFÉ",
  "pie -red",
  "\"apple pie\"",
  "\"red apple\" pie",
  "-apple",
  "x_y",
  "12 é",
  ""
)

const search: Some<Document> = weighted<Document>(
  [3, record({ $search: searches })],
  [1, record({ $search: searches, $caseSensitive: oneOf(true, false) })],
  [1, record({ $search: searches, $diacriticSensitive: oneOf(true, false), $language: oneOf("none", "english") })]
)

/** Conditions with one search, alone or beside another condition. */
export const textFilters: Some<Document> = either<Document>(
  record({ $text: search }),
  record({ $text: search, n: either<unknown>(common, record({ $gte: common })) }),
  Arbitrary.map(search, ($text): Document => ({ $and: [{ $text }, { _id: { $lte: 4 } }] })),
  Arbitrary.map(search, ($text): Document => ({ $or: [{ $text }, { _id: 1 }] }))
)
