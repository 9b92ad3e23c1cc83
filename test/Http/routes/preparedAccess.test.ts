import { assert, describe, it } from "@effect/vitest"
import { Binary, Long, ObjectId, UUID } from "bson"
import { preparedAccess } from "../../../src/Http/routes/preparedAccess.ts"
import type { Filter } from "../../../src/Repository/DocumentStore.ts"

const prepared = () =>
  preparedAccess({ ruled: undefined, links: undefined, isOwn: new Set(), name: "GET", isCall: false })

const user = { subject: "ann", roles: [], permissions: [], claims: {} }

const heldWith = (rows: Filter) => [{ id: 0, rows, check: rows, fields: undefined }]

describe("preparedAccess", () => {
  it("notices a condition that is changed in place", () => {
    const open = ["north"]
    const since = new Date(0)
    const rows = { shop: { $in: open }, $or: [{ since: { $gt: since } }] }
    const access = prepared()
    const first = access(user, heldWith(rows))
    assert.strictEqual(access(user, heldWith(rows)), first)
    open.push("south")
    const second = access(user, heldWith(rows))
    assert.notStrictEqual(second, first)
    assert.strictEqual(access(user, heldWith(rows)), second)
    since.setTime(1)
    assert.notStrictEqual(access(user, heldWith(rows)), second)
  })

  it("takes equal identifiers and dates for the same", () => {
    const values = [
      [() => new Date(7), () => new Date(8)],
      [() => new ObjectId("0123456789abcdef01234567"), () => new ObjectId("1123456789abcdef01234567")],
      [
        () => new UUID("01234567-89ab-4def-8123-456789abcdef"),
        () => new UUID("11234567-89ab-4def-8123-456789abcdef")
      ],
      [() => Long.fromNumber(7), () => Long.fromNumber(8)]
    ] as const
    for (const [same, other] of values) {
      const access = prepared()
      const first = access(user, heldWith({ _id: same() }))
      assert.strictEqual(access(user, heldWith({ _id: same() })), first, String(same()))
      assert.notStrictEqual(access(user, heldWith({ _id: other() })), first, String(same()))
    }
    const access = prepared()
    const first = access(user, heldWith({ _id: new Date(7) }))
    assert.notStrictEqual(access(user, heldWith({ _id: Long.fromNumber(7) })), first)
    assert.notStrictEqual(access(user, heldWith({ _id: new Binary(new Uint8Array(16)) })), first)
  })
})
