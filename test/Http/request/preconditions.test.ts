import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result, Schema } from "effect"
import { etagOf, type TagCondition, withCoding } from "../../../src/Http/request/entityTags.ts"
import { evaluate, isCreateOnly, none, read } from "../../../src/Http/request/preconditions.ts"

const given = (headers: { readonly [name: string]: string }) => Result.getOrUndefined(read(headers))

const conditionOf = (header: string) => given({ "if-match": header })?.ifMatch

const strong = (opaque: string) => ({ weak: false, opaque })
const weak = (opaque: string) => ({ weak: true, opaque })

describe("preconditions", () => {
  it("are read as RFC 9110 defines them", () => {
    assert.strictEqual(given({}), none)
    const headers: ReadonlyArray<readonly [string, TagCondition]> = [
      ["*", "any"],
      [" * ", "any"],
      [`"3"`, [strong("3")]],
      [`"xyzzy", "r2d2xxxx", "c3piozzzz"`, [strong("xyzzy"), strong("r2d2xxxx"), strong("c3piozzzz")]],
      [`W/"xyzzy",W/"r2d2xxxx" ,"x"`, [weak("xyzzy"), weak("r2d2xxxx"), strong("x")]],
      [`""`, [strong("")]],
      [`"a,b", "*"`, [strong("a,b"), strong("*")]],
      [` , "a",, \t"b",`, [strong("a"), strong("b")]],
      [`"ü!#"`, [strong("ü!#")]]
    ]
    for (const [header, condition] of headers) assert.deepStrictEqual(conditionOf(header), condition, header)
    assert.deepStrictEqual(given({ "if-match": `"1"`, "if-none-match": "*" }), {
      ifMatch: [strong("1")],
      ifNoneMatch: "any"
    })
  })

  it("are rejected if they are malformed, by the names of their headers", () => {
    for (const header of ["", " ", ",", "3", `"3`, `3"`, `w/"3"`, `W/3`, `"3" "4"`, `"a"b`, `*, "3"`, `"a b"`, `W/`]) {
      const result = read({ "if-match": header, "if-none-match": header })
      assert.deepStrictEqual(
        Result.isFailure(result) ? result.failure.map(({ field }) => field) : result.success,
        ["If-Match", "If-None-Match"],
        header
      )
    }
  })

  const tags = Arbitrary.array(
    Arbitrary.schema(Schema.Struct({
      weak: Schema.Boolean,
      opaque: Schema.String.check(Schema.isPattern(/^[!#-~]{0,5}$/u))
    })),
    { minLength: 1, maxLength: 5 }
  )
  it.prop(
    "are read with any spacing",
    [tags, Schema.Literals([",", ", ", " ,\t"])],
    ([list, comma]) => {
      const header = list.map(({ opaque, weak }) => `${weak ? "W/" : ""}"${opaque}"`).join(comma)
      assert.deepStrictEqual(conditionOf(header), list)
    }
  )

  it.prop("are a list of tags or rejected, for any header", [Schema.String], ([text]) => {
    for (const header of [text, `"${text}"`, `"a", ${text}`]) {
      const condition = conditionOf(header)
      if (condition === undefined || condition === "any") continue
      const written = condition.map(({ opaque, weak }) => `${weak ? "W/" : ""}"${opaque}"`)
      assert.deepStrictEqual(header.match(/(?:W\/)?"[^"]*"/gu), written)
    }
  })

  it("compare whole tags in any coding, strongly for If-Match, weakly for If-None-Match, and in this order", () => {
    const tag = etagOf("{}")
    assert.match(tag, /^"[\da-f]{16}"$/u)
    const at = (headers: { readonly [name: string]: string }, etag?: string) =>
      evaluate(given({ "accept-encoding": "zstd, BR, gzip;q=0.5", ...headers }) ?? none, etag)
    const gzip = withCoding(tag, "gzip")
    for (const known of [tag, gzip, withCoding(tag, "br"), withCoding(tag, "zstd")]) {
      assert.strictEqual(at({ "if-match": known }, tag), "proceed")
      assert.strictEqual(at({ "if-match": `"x", ${known}` }, tag), "proceed")
      assert.strictEqual(at({ "if-match": `W/${known}` }, tag), "failed")
      assert.strictEqual(at({ "if-match": known }, etagOf("[]")), "failed")
      assert.strictEqual(at({ "if-match": known }), "failed")
      assert.strictEqual(at({ "if-none-match": known }, tag), "not modified")
      assert.strictEqual(at({ "if-none-match": `"x", W/${known}` }, tag), "not modified")
      assert.strictEqual(at({ "if-none-match": known }, etagOf("[]")), "proceed")
      assert.strictEqual(at({ "if-none-match": known }), "proceed")
      assert.strictEqual(at({ "if-match": `"x"`, "if-none-match": known }, tag), "failed")
      assert.strictEqual(at({ "if-match": tag, "if-none-match": known }, tag), "not modified")
    }
    for (
      const other of [withCoding(gzip, "gzip"), withCoding(tag, "identity"), `"3"`, `""`, tag.replace("\"", "\"3-")]
    ) {
      assert.strictEqual(at({ "if-match": other }, tag), "failed")
      assert.strictEqual(at({ "if-none-match": other }, tag), "proceed")
    }
    // The answer would have another tag.
    for (
      const [accepted, expected] of [
        ["", "proceed"],
        ["br", "proceed"],
        ["gzip;q=0, *", "proceed"],
        ["*;q=0", "proceed"],
        ["GZIP; q=0.1", "not modified"],
        ["*", "not modified"]
      ] as const
    ) {
      assert.strictEqual(at({ "if-none-match": gzip, "accept-encoding": accepted }, tag), expected)
      assert.strictEqual(at({ "if-none-match": `${gzip}, ${tag}`, "accept-encoding": accepted }, tag), "not modified")
    }
    assert.strictEqual(evaluate(none, tag), "proceed")
    assert.strictEqual(at({ "if-match": "*" }), "proceed")
    assert.strictEqual(at({ "if-none-match": "*" }), "not modified")
    assert.strictEqual(withCoding(`W/${tag}`, "gzip"), `W/${tag}`)
  })

  it("require a new document by If-None-Match: *", () => {
    assert.isTrue(isCreateOnly(given({ "if-none-match": "*" }) ?? none))
    assert.isFalse(isCreateOnly(given({ "if-none-match": `"1"` }) ?? none))
    assert.isFalse(isCreateOnly(none))
  })
})
