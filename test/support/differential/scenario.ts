/** Scenarios: documents, indexes and calls of a store. They are plain data, so that they can be shrunk and printed. */
import { Arbitrary } from "effect"
import type { Collation, Document, IndexDescription, Sort } from "../../../packages/document-store/src/DocumentStore.ts"
import { either, oneOf, type Some, upTo } from "../choices.ts"
import { collations } from "./collations.ts"
import { locations, nearFilters, nearStages, regionFilters } from "./geography.ts"
import { pipelines } from "./pipelines.ts"
import { filters, indexLists, positionalFilters, projections, sorts } from "./queries.ts"
import { schemas } from "./schemas.ts"
import { writingPipelines } from "./targets.ts"
import { sentences, textFilters, textIndexes } from "./texts.ts"
import { type Change, replacements, updates } from "./updates.ts"
import { documents, listOf, paths, record, weighted } from "./values.ts"

interface Find {
  readonly call: "find"
  readonly filter: Document
  readonly sort?: Sort | undefined
  readonly skip?: number | undefined
  readonly limit?: number | undefined
  readonly projection?: Document | undefined
}

type Operation =
  | Find
  | { readonly call: "distinct"; readonly path: string; readonly filter: Document }
  | { readonly call: "aggregate"; readonly pipeline: ReadonlyArray<Document> }
  /** A pipeline that writes its results to a collection. */
  | { readonly call: "write"; readonly pipeline: ReadonlyArray<Document> }
  | ({ readonly call: "updateMany"; readonly filter: Document } & Change)
  | ({ readonly call: "updateOne"; readonly filter: Document; readonly upsert: boolean } & Change)
  | (
    & { readonly call: "findOneAndUpdate"; readonly filter: Document; readonly projection?: Document | undefined }
    & Change
  )
  | { readonly call: "replaceOne"; readonly filter: Document; readonly document: Document }
  | { readonly call: "deleteMany"; readonly filter: Document }

/** A call of a store. */
export type Call = Operation & { readonly collation?: Collation | undefined }

export interface Scenario {
  readonly documents: ReadonlyArray<Document>
  readonly indexes: ReadonlyArray<IndexDescription>
  readonly calls: ReadonlyArray<Call>
  /** The JSON schema of the collection. */
  readonly rules?: Document | undefined
}

const ids = either<Document>(
  oneOf<Document>({ _id: 1 }, { _id: 2 }, { _id: 7 }),
  Arbitrary.map(Arbitrary.all([oneOf(1, 2), filters]), ([_id, filter]): Document => ({ ...filter, _id }))
)

const reads: Some<Call> = weighted<Call>(
  [4, Arbitrary.map(record({ filter: filters }), ({ filter }): Call => ({ call: "find", filter: filter as Document }))],
  [
    3,
    Arbitrary.map(
      Arbitrary.all([filters, sorts, oneOf(0, 0, 1), oneOf<number | undefined>(undefined, 1, 3)]),
      ([filter, sort, skip, limit]): Call => ({ call: "find", filter, sort, skip, limit })
    )
  ],
  [
    2,
    Arbitrary.map(
      Arbitrary.all([filters, projections]),
      ([filter, projection]): Call => ({ call: "find", filter, projection })
    )
  ],
  [
    1,
    Arbitrary.map(
      Arbitrary.all([positionalFilters, oneOf("c.$", "l.$")]),
      ([filter, path]): Call => ({ call: "find", filter, projection: { [path]: 1 } })
    )
  ],
  [1, Arbitrary.map(Arbitrary.all([paths, filters]), ([path, filter]): Call => ({ call: "distinct", path, filter }))],
  [7, Arbitrary.map(pipelines, (pipeline): Call => ({ call: "aggregate", pipeline }))]
)

const writes: Some<Call> = weighted<Call>(
  [
    5,
    Arbitrary.map(
      Arbitrary.all([filters, updates]),
      ([filter, change]): Call => ({ call: "updateMany", ...change, filter: change.filter ?? filter })
    )
  ],
  [
    3,
    Arbitrary.map(
      Arbitrary.all([ids, updates, oneOf(false, true)]),
      ([filter, change, upsert]): Call => ({
        call: "updateOne",
        upsert,
        ...change,
        filter: { ...change.filter, ...filter }
      })
    )
  ],
  [
    1,
    Arbitrary.map(
      Arbitrary.all([ids, updates]),
      ([filter, change]): Call => ({ call: "findOneAndUpdate", ...change, filter: { ...change.filter, ...filter } })
    )
  ],
  [
    1,
    Arbitrary.map(
      Arbitrary.all([ids, replacements]),
      ([filter, document]): Call => ({ call: "replaceOne", filter, document })
    )
  ],
  [1, Arbitrary.map(filters, (filter): Call => ({ call: "deleteMany", filter }))],
  [2, Arbitrary.map(writingPipelines, (pipeline): Call => ({ call: "write", pipeline }))]
)

const callLists: Some<ReadonlyArray<Call>> = listOf(weighted<Call>([3, reads], [1, writes]), 6, 1)

const general: Some<Scenario> = Arbitrary.map(
  Arbitrary.all([documents, indexLists, callLists]),
  ([documents, indexes, calls]): Scenario => ({ documents, indexes, calls })
)

/** Most calls, and some indexes, have one collation. */
const collated: Some<Scenario> = Arbitrary.map(
  Arbitrary.all([general, Arbitrary.all([collations, collations]), upTo(63)]),
  ([{ calls, documents, indexes }, [collation, other], bits]): Scenario => ({
    documents,
    indexes: indexes.map((index, at) => (bits >> at) % 2 === 0 ? { ...index, collation } : index),
    calls: calls.map((call, at) => ({
      ...call,
      collation: (bits >> at) % 4 === 1 ? undefined : (bits >> at) % 8 === 7 ? other : collation
    }))
  })
)

const geoIndexes: Some<ReadonlyArray<IndexDescription>> = oneOf<ReadonlyArray<IndexDescription>>(
  [{ name: "sphere", key: { g: "2dsphere" } }],
  [{ name: "sphere", key: { g: "2dsphere" } }],
  [{ name: "sphere and n", key: { g: "2dsphere", n: 1 } }],
  [{ name: "s and sphere", key: { s: 1, g: "2dsphere" } }],
  [{ name: "sphere where", key: { g: "2dsphere" }, partialFilterExpression: { n: { $gt: 0 } } }],
  [{ name: "plane", key: { g: "2d" } }],
  [{ name: "plane and s", key: { g: "2d", s: 1 } }],
  [{ name: "sphere", key: { g: "2dsphere" } }, { name: "plane", key: { g: "2d" } }, { name: "n", key: { n: 1 } }],
  []
)

const and = (a: Some<Document>, b: Some<Document>): Some<Document> =>
  Arbitrary.map(Arbitrary.all([a, b]), ([a, b]): Document => ({ ...a, ...b }))

const none: Some<Document> = Arbitrary.Constant<Document>({})

const geoFilters: Some<Document> = weighted<Document>(
  [4, regionFilters],
  [1, and(filters, regionFilters)],
  [1, record({ $or: listOf(either(filters, regionFilters), 2, 2) })],
  [1, record({ $nor: listOf(regionFilters, 2, 1) })],
  [2, and(either(none, none, filters), nearFilters)]
)

const geoCalls: Some<Call> = weighted<Call>(
  [6, Arbitrary.map(geoFilters, (filter): Call => ({ call: "find", filter }))],
  [
    2,
    Arbitrary.map(
      Arbitrary.all([geoFilters, sorts, oneOf<number | undefined>(undefined, 1, 3)]),
      ([filter, sort, limit]): Call => ({ call: "find", filter, sort, limit })
    )
  ],
  [
    2,
    Arbitrary.map(
      either(
        Arbitrary.all([either(nearStages, record({ $match: regionFilters })), pipelines]),
        Arbitrary.map(nearStages, (stage): [Document, ReadonlyArray<Document>] => [stage, []])
      ),
      ([first, stages]): Call => ({ call: "aggregate", pipeline: [first, ...stages] })
    )
  ],
  [
    1,
    Arbitrary.map(
      Arbitrary.all([ids, locations]),
      ([filter, g]): Call => ({ call: "updateOne", filter, update: { $set: { g } }, upsert: false })
    )
  ],
  [1, Arbitrary.map(geoFilters, (filter): Call => ({ call: "updateMany", filter, update: { $inc: { k: 1 } } }))],
  [1, Arbitrary.map(geoFilters, (filter): Call => ({ call: "deleteMany", filter }))]
)

const geographic: Some<Scenario> = Arbitrary.map(
  Arbitrary.all([documents, listOf(locations, 6, 6), geoIndexes, listOf(geoCalls, 6, 1)]),
  ([documents, places, indexes, calls]): Scenario => ({
    documents: documents.map((document, at) => ({ ...document, g: places[at] })),
    indexes,
    calls
  })
)

const score = { score: { $meta: "textScore" } }

const textCalls: Some<Call> = weighted<Call>(
  [3, Arbitrary.map(textFilters, (filter): Call => ({ call: "find", filter }))],
  [
    3,
    Arbitrary.map(
      Arbitrary.all([textFilters, oneOf<number | undefined>(undefined, 1, 3)]),
      ([filter, limit]): Call => ({
        call: "aggregate",
        pipeline: [
          { $match: filter },
          { $set: score },
          { $sort: { ...score, _id: 1 } },
          ...limit === undefined ? [] : [{ $limit: limit }]
        ]
      })
    )
  ],
  [
    1,
    Arbitrary.map(
      Arbitrary.all([ids, sentences]),
      ([filter, s]): Call => ({ call: "updateOne", filter, update: { $set: { s } }, upsert: false })
    )
  ],
  [1, Arbitrary.map(textFilters, (filter): Call => ({ call: "updateMany", filter, update: { $inc: { k: 1 } } }))],
  [1, Arbitrary.map(textFilters, (filter): Call => ({ call: "deleteMany", filter }))]
)

const searching: Some<Scenario> = Arbitrary.map(
  Arbitrary.all([
    documents,
    listOf(record({ s: sentences, w: sentences }), 6, 6),
    textIndexes,
    listOf(textCalls, 6, 1)
  ]),
  ([documents, texts, indexes, calls]): Scenario => ({
    documents: documents.map((document, at) => ({ ...document, ...texts[at] })),
    indexes,
    calls
  })
)

/** Documents and writes of which a collection's schema refuses some. */
const ruled: Some<Scenario> = Arbitrary.map(
  Arbitrary.all([general, schemas, listOf(writes, 4, 1)]),
  ([{ calls, documents, indexes }, rules, writes]): Scenario => ({
    documents,
    indexes,
    rules,
    calls: [...writes, ...calls]
  })
)

const kinds = new Map([
  ["general", general],
  ["collated", collated],
  ["geographic", geographic],
  ["searching", searching],
  ["ruled", ruled]
])

export const scenarios: Some<Scenario> = weighted<Scenario>(
  [12, general],
  [2, collated],
  [2, geographic],
  [1, searching],
  [1, ruled]
)

/** Scenarios of one kind, or of all. */
export const scenariosOf = (kind: string | undefined): Some<Scenario> => kinds.get(kind ?? "") ?? scenarios
