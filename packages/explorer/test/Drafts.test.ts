/** What somebody has entered and not saved, in the memory of the page. */
import { assert, describe, it } from "@effect/vitest"
import { draftOf, hasDrafts, keepDraft, keepDraftsOf } from "../src/documents/drafts.ts"

describe("Drafts", () => {
  it("outlive a sign-out, but not that another user signs in", () => {
    const draft = { base: {}, values: { title: "Entered" } }
    keepDraftsOf("ann")
    keepDraft("tickets/T1", draft)
    keepDraftsOf("ann")
    assert.deepStrictEqual(draftOf("tickets/T1"), draft)
    keepDraftsOf("bob")
    assert.deepStrictEqual([draftOf("tickets/T1"), hasDrafts()], [undefined, false])
  })
})
