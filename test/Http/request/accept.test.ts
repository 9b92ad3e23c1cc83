import { assert, describe, it } from "@effect/vitest"
import { acceptsJson } from "../../../src/Http/request/accept.ts"

describe("an Accept header", () => {
  it("accepts JSON if one of its ranges does", () => {
    const accepted = [
      undefined,
      "",
      "*/*",
      "application/json",
      "Application/JSON",
      "application/*",
      "application/json; charset=utf-8",
      "application/json;charset=UTF-8;q=0.5",
      "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
      "text/html;q=1, application/json;q=0.001",
      "text/html, *; q=.2, */*; q=.2"
    ]
    for (const header of accepted) assert.isTrue(acceptsJson(header), header)
  })

  it("rejects it if none does, or if one excludes it", () => {
    const refused = [
      "text/html",
      "application/xml, text/*",
      "application/json;q=0",
      "application/json;q=0, */*",
      "application/*;q=0",
      "application/hal+json",
      "application/json; charset=utf-16",
      "json",
      "text/html;q=x"
    ]
    for (const header of refused) assert.isFalse(acceptsJson(header), header)
  })
})
