import type { Filter } from "@appkernel/document-store/DocumentStore"
import { assert, describe, it } from "@effect/vitest"
import { Double, MaxKey, MinKey } from "bson"
import { Result } from "effect"
import { parseFilter } from "../../../mql/src/filter/parseFilter.ts"
import { parsePart } from "../../src/catalog/partialIndex.ts"

describe("indexPart", () => {
  const implies = (query: Filter, part: Filter): boolean =>
    Result.getOrThrow(parsePart(part)).isImpliedBy(Result.getOrThrow(parseFilter(query, { now: 0 })).constraints)

  it.each<[part: Filter, queries: ReadonlyArray<Filter>]>([
    [{ a: 1 }, [{ a: 1 }, { a: { $in: [1] }, b: 2 }, { $and: [{ b: 1 }, { a: { $eq: 1 } }] }]],
    [{ a: null }, [{ a: null }, { a: { $eq: null } }]],
    [{ a: { $gt: 1 } }, [{ a: { $gt: 1 } }, { a: 2 }, { a: { $in: [2, 3] } }, { a: { $gte: 2 } }, {
      a: { $gte: 1.5 }
    }]],
    [{ a: { $gte: 1, $lt: 5 } }, [{ a: 1 }, { a: { $gte: 1, $lt: 5 } }, { a: { $gt: 1, $lte: 4 } }]],
    [{ a: { $lte: new Date(5) } }, [{ a: { $lt: new Date(5) } }, { a: new Date(4) }]],
    [{ a: { $exists: true } }, [{ a: 1 }, { a: { $exists: true } }, { a: { $gt: 1 } }, { a: { $lte: "x" } }]],
    [{ a: { $type: "string" } }, [{ a: "x" }, { a: { $in: ["x", "y"] } }]],
    [{ a: { $in: ["x", "y"] } }, [{ a: "x" }, { a: { $in: ["y", "x"] } }]],
    [{ $and: [{ a: 1 }, { "b.c": { $gt: 1 } }] }, [{ a: 1, "b.c": 2 }]],
    [{}, [{}, { a: 1 }]]
  ])("is used for what it holds all of", (part, queries) => {
    for (const query of queries) assert.isTrue(implies(query, part), JSON.stringify([part, query]))
  })

  it.each<[part: Filter, queries: ReadonlyArray<Filter>]>([
    [{ a: 1 }, [{}, { a: 2 }, { a: { $in: [1, 2] } }, { b: 1 }, { $or: [{ a: 1 }, { b: 1 }] }, { a: { $gte: 1 } }]],
    [{ a: null }, [{ a: 1 }, { a: { $in: [null, 1] } }]],
    [{ a: { $gt: 1 } }, [{ a: 1 }, { a: { $gte: 1 } }, { a: { $lt: 5 } }, { a: { $gt: "x" } }, {
      a: { $in: [2, null] }
    }]],
    [{ a: { $gte: 1, $lt: 5 } }, [{ a: { $gt: 1 } }, { a: { $lt: 5 } }, { a: { $gte: 1, $lte: 5 } }, { a: 5 }]],
    [{ a: { $exists: true } }, [{ a: null }, { a: { $lt: new MaxKey() } }, { a: { $gt: new MinKey() } }, {
      a: { $ne: 1 }
    }]],
    [{ a: { $type: "null" } }, [{ a: null }]],
    [{ a: { $type: "string" } }, [{ a: { $gte: "" } }, { a: { $exists: true } }]],
    [{ a: { $in: ["x", "y"] } }, [{ a: "z" }, { a: { $gte: "x", $lte: "y" } }]],
    [{ a: { $gt: [1] } }, [{ a: { $gt: 5 } }, {}]],
    [{ a: { $lt: 10 } }, [{ a: { $lte: NaN } }, { a: { $lt: NaN } }, { a: { $lte: new Double(NaN) } }]],
    [{ a: { $gte: NaN } }, [{ a: { $gt: 5 } }, { a: { $gte: 5 } }]],
    [{ a: 1, b: 1 }, [{ a: 1 }]]
  ])("is not used for what it may not hold", (part, queries) => {
    for (const query of queries) assert.isFalse(implies(query, part), JSON.stringify([part, query]))
  })

  it.each<[Filter, "unsupported" | "rejected"]>([
    [{ $or: [{ a: 1 }] }, "unsupported"],
    [{ a: { $ne: 1 } }, "unsupported"],
    [{ a: { $exists: false } }, "unsupported"],
    [{ $text: { $search: "a" } }, "unsupported"],
    [{ $and: [] }, "rejected"],
    [{ a: { $in: 1 } }, "rejected"]
  ])("can't be %o", (part, kind) => {
    const parsed = parsePart(part)
    assert.strictEqual(Result.isFailure(parsed) ? parsed.failure.kind : "fine", kind)
  })
})
