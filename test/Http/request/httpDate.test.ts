import { assert, describe, it } from "@effect/vitest"
import { parseHttpDate } from "../../../src/Http/request/httpDate.ts"

describe("the dates of headers", () => {
  it("have three forms, all of them in GMT", () => {
    const forms = ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
    for (const form of forms) assert.strictEqual(parseHttpDate(form), Date.UTC(1994, 10, 6, 8, 49, 37), form)
  })

  it("are nothing else", () => {
    const others = [
      "",
      "0",
      "1994-11-06T08:49:37Z",
      "Sun, 06 Nov 1994 08:49:37",
      "Sun, 06 Nov 1994 08:49:37 +0100",
      "Sun, 6 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:99:37 GMT",
      "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT"
    ]
    for (const other of others) assert.isUndefined(parseHttpDate(other), other)
  })
})
