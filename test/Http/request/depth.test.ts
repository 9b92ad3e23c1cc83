import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { isDeeper, isDeeperValue } from "../../../src/Http/request/depth.ts"

const bytes = (text: string) => Buffer.from(text)

const tower = (levels: number, open = "[", close = "]") => open.repeat(levels) + close.repeat(levels)

/** How deep a value is nested. */
const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

describe("the depth of JSON", () => {
  it("is counted in arrays and objects", () => {
    for (const text of [tower(128), tower(128, `{"a":`, "}").replace(":}", ":1}"), `[${tower(127)},${tower(127)}]`]) {
      assert.isFalse(isDeeper(bytes(text), 128))
    }
    for (const text of [tower(129), `${`{"a":`.repeat(129)}1${"}".repeat(129)}`, `[${tower(2)},${tower(128)}]`]) {
      assert.isTrue(isDeeper(bytes(text), 128))
    }
  })

  it("is not counted in texts", () => {
    assert.isFalse(isDeeper(bytes(JSON.stringify([`\\"${"[".repeat(500)}`, `"${"{".repeat(500)}\\`])), 128))
    assert.isTrue(isDeeper(bytes(`["\\\\",${tower(130)},"]]]]"]`), 128))
  })

  it("of an incomplete body is counted like that of a complete one", () => {
    for (const text of ["[".repeat(1_000_000), `"${"[".repeat(1_000)}`, `"${"\\".repeat(999)}`]) {
      assert.strictEqual(isDeeper(bytes(text), 128), text.startsWith("["))
    }
  })

  it.prop("is that of the value", [Schema.Json], ([value]) => {
    // Short texts are not looked at.
    const padding = " ".repeat(20)
    for (const limit of [0, 1, 2, 3]) {
      assert.strictEqual(isDeeper(bytes(JSON.stringify(value) + padding), limit), depthOf(value) > limit)
      assert.strictEqual(isDeeperValue(value, limit), depthOf(value) > limit)
    }
  })
})
