/** Generated JSON schemas, with MongoDB's keywords. */
import { Arbitrary } from "effect"
import type { Document } from "../../../packages/document-store/src/DocumentStore.ts"
import { either, oneOf, type Some } from "../choices.ts"
import { common, ints, listOf, numbers, partial, record, texts, weighted } from "./values.ts"

const bsonTypes = oneOf<unknown>(
  "double",
  "string",
  "object",
  "array",
  "bool",
  "null",
  "int",
  "long",
  "decimal",
  "date",
  "number"
)

const sizes = oneOf<unknown>(0, 1, 2, 3)

const keyword = (name: string, operand: Some<unknown>): Some<Document> => record({ [name]: operand })

const plainRules: Some<Document> = weighted<Document>(
  [3, keyword("bsonType", either<unknown>(bsonTypes, listOf(bsonTypes, 2, 1)))],
  [1, keyword("type", oneOf<unknown>("string", "number", "array", "object", "boolean", "null", ["null", "string"]))],
  [2, keyword("enum", listOf(common, 3, 1))],
  [2, either(keyword("minimum", numbers), keyword("maximum", numbers))],
  [1, record({ minimum: ints, exclusiveMinimum: oneOf<unknown>(true, false) })],
  [1, keyword("multipleOf", oneOf<unknown>(1, 2, 0.5, 1.5))],
  [1, either(keyword("minLength", sizes), keyword("maxLength", sizes))],
  [1, keyword("pattern", oneOf<unknown>("^a", "b", "^$", "é"))]
)

/** What `inner` schemas say of the parts of a value. */
const structured = (inner: Some<Document>): Some<Document> =>
  weighted<Document>(
    [3, keyword("items", inner)],
    [1, record({ items: listOf(inner, 2, 1), additionalItems: either<unknown>(oneOf(true, false), inner) })],
    [1, either(keyword("minItems", sizes), keyword("maxItems", sizes), keyword("uniqueItems", oneOf(true, false)))],
    [3, record({ properties: partial({ x: inner, y: inner }) })],
    [1, keyword("required", oneOf<unknown>(["x"], ["x", "y"]))],
    [
      1,
      record({ properties: partial({ x: inner }), additionalProperties: either<unknown>(oneOf(true, false), inner) })
    ],
    [1, keyword("patternProperties", record({ "^[xy]$": inner }))],
    [1, either(keyword("minProperties", sizes), keyword("maxProperties", sizes))],
    [1, keyword("dependencies", oneOf<unknown>({ x: ["y"] }, { y: { required: ["x"] } }))],
    [2, either(...["allOf", "anyOf", "oneOf"].map((name) => keyword(name, listOf(inner, 3, 1))))],
    [1, keyword("not", inner)]
  )

const both = (a: Some<Document>, b: Some<Document>): Some<Document> =>
  Arbitrary.map(Arbitrary.all([a, b]), ([a, b]): Document => ({ ...a, ...b }))

const flat: Some<Document> = weighted([3, plainRules], [1, both(plainRules, plainRules)])
const shallow: Some<Document> = either(flat, structured(flat))
const deep: Some<Document> = either(shallow, structured(shallow), both(flat, structured(shallow)))

/** Schemas of a document. */
export const schemas: Some<Document> = weighted<Document>(
  [5, record({ properties: partial({ n: flat, s: flat, v: deep }) })],
  [3, record({ properties: partial({ l: deep, c: deep, o: deep }) })],
  [2, record({ required: oneOf<unknown>(["n"], ["s", "v"]), properties: partial({ n: flat }) })],
  [1, record({ properties: record({ _id: oneOf({}), n: flat }), additionalProperties: shallow })],
  [
    1,
    either(
      ...["allOf", "anyOf", "oneOf"].map((name) =>
        keyword(name, listOf(keyword("properties", partial({ n: flat, s: flat })), 2, 1))
      )
    )
  ],
  [1, record({ patternProperties: record({ "^[ns]$": flat }), minProperties: sizes })],
  [1, keyword("not", keyword("properties", partial({ v: shallow, s: keyword("enum", listOf(texts, 2, 1)) })))]
)

export const schemaFilters: Some<Document> = record({ $jsonSchema: schemas })
