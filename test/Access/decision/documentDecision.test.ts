import { assert, describe, it } from "@effect/vitest"
import { Binary, Long, ObjectId, UUID } from "bson"
import { Effect, Schema } from "effect"
import type { Filter } from "../../../packages/document-store/src/DocumentStore.ts"
import { documentDecision } from "../../../src/Access/decision/documentDecision.ts"
import { modelPolicy } from "../../../src/Access/decision/modelPolicy.ts"
import { linkedEndpoints } from "../../../src/Http/response/links.ts"
import { implemented } from "../../../src/Http/routes/implemented.ts"
import { Anonymous, KernelEngine, Model, Resource, Role } from "../../../src/index.ts"

const prepared = () => ofNotes().access

const user = { subject: "ann", roles: [], permissions: [], claims: {} }

const heldWith = (rows: Filter) => [{ id: 0, rows, check: rows, fields: undefined }]

describe("documentDecision", () => {
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

  describe("of a resource", () => {
    it("is the same while the same grants apply, and has the fields and links of these", () => {
      const { access, rule } = ofNotes()
      const hiding = access(user, [rule.everybody])
      assert.strictEqual(access(user, [rule.everybody]), hiding)
      assert.deepStrictEqual(hiding.read.map(({ fields }) => fields?.hide), [["cost"]])
      // GET, PUT and the action.
      assert.deepStrictEqual(hiding.links?.endpoints, [true, false, false])
      const both = access(user, [rule.everybody, rule.editor])
      assert.deepStrictEqual(both.read.map(({ fields }) => fields?.hide), [["cost"], undefined])
      assert.deepStrictEqual(both.links?.endpoints, [true, rule.editor.rows, rule.editor.rows])
      const again = access(user, [rule.everybody])
      assert.notStrictEqual(again, both)
      assert.deepStrictEqual([again.read, again.links?.endpoints], [hiding.read, hiding.links?.endpoints])
    })

    it("is that of nobody for callers without credentials, and not for others", () => {
      const { access, rule } = ofNotes()
      const open = access(undefined, [rule.everybody])
      assert.strictEqual(access(undefined, [rule.everybody]), open)
      const ann = access(user, [rule.everybody, rule.editor])
      assert.strictEqual(access(undefined, [rule.everybody]), open)
      assert.strictEqual(access(user, [rule.everybody, rule.editor]), ann)
      const bob = access({ ...user, subject: "bob" }, [rule.everybody, { ...rule.editor, rows: { owner: "bob" } }])
      assert.deepStrictEqual(bob.links?.endpoints[1], { owner: "bob" })
      assert.deepStrictEqual(ann.links?.endpoints[1], { owner: "ann" })
    })
  })
})

class Note extends Model.Class<Note>()("Note", { id: Model.id(), owner: Schema.String, cost: Schema.Int }) {}

const Notes = Resource.make(Note, { methods: ["GET", "PUT"] })
  .action("close", { method: "POST" }, () => Effect.void)
  .grant(Anonymous, { methods: "GET", hide: ["cost"] })
  .grant(Role("editor"), { rows: (me) => ($) => $.owner.equals(me.subject) })

/** The decisions on the documents, and the grant of each rule. */
const ofNotes = () => {
  const [registration] = KernelEngine.make("notes").register(Notes).registrations
  const resource = implemented(registration!, [Notes])
  if (resource._tag !== "Resource") return assert.fail("it is a resource")
  const { model, path, rules } = resource
  const linked = linkedEndpoints(resource)
  const policy = modelPolicy({ linked, model, path, rules })
  const access = documentDecision({ policy, hasLinks: true, ownIds: new Set([0, 1]), name: "GET", isOperation: false })
  const rows = { owner: "ann" }
  return {
    access,
    rule: {
      everybody: { id: 0, rows: undefined, check: undefined, fields: resource.rules.grants[0]?.fields },
      editor: { id: 1, rows, check: rows, fields: undefined }
    }
  }
}
