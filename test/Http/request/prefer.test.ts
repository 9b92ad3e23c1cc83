import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { isLenient, returnOf } from "../../../src/Http/request/prefer.ts"

describe("the preference for the response to a write", () => {
  it("is found among others, as RFC 7240 defines them", () => {
    const headers: ReadonlyArray<readonly [string, string | undefined]> = [
      ["return=representation", "representation"],
      ["return=minimal", "minimal"],
      [`return="minimal"`, "minimal"],
      [`Return = "re\\presentation"`, "representation"],
      ["respond-async, return=minimal", "minimal"],
      ["respond-async, wait=100, handling=lenient, return=representation", "representation"],
      ["return=minimal; foo=\"some parameter\"", "minimal"],
      [`priority=5;a="x, return=minimal", return=representation`, "representation"],
      ["return=minimal, return=representation", "minimal"],
      ["foo; bar=\"return=minimal\"", undefined],
      [`foo="", return=minimal`, "minimal"],
      ["return", undefined],
      ["return=", undefined],
      ["return=both", undefined],
      ["return=both, return=minimal", undefined],
      ["return=minimalist", undefined],
      ["return minimal", undefined],
      ["returns=minimal", undefined],
      [`"return=minimal"`, undefined],
      ["", undefined],
      [",,return=minimal", "minimal"]
    ]
    for (const [header, expected] of headers) assert.strictEqual(returnOf(header), expected, header)
    assert.isUndefined(returnOf(undefined))
  })

  it.prop("is the first of several", [Schema.String], ([text]) => {
    assert.strictEqual(returnOf(`return=minimal, ${text}`), "minimal")
  })

  it("is lenient for many where its first word on handling is", () => {
    const headers: ReadonlyArray<readonly [string | undefined, boolean]> = [
      ["handling=lenient", true],
      ["return=minimal, Handling = \"lenient\"", true],
      ["handling=strict", false],
      ["handling=strict, handling=lenient", false],
      ["handling", false],
      ["lenient", false],
      ["return=minimal", false],
      [undefined, false]
    ]
    for (const [header, expected] of headers) assert.strictEqual(isLenient(header), expected, header)
  })
})
