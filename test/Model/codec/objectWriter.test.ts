import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { execFileSync } from "node:child_process"
import { type Member, objectWriter } from "../../../src/Model/codec/objectWriter.ts"

// Keys that are special in code, in texts or in objects.
const key = Schema.Literals(["a", "b", "\"", "\\", "\u2028", "__proto__", "constructor", "a b", "1"])

const described = Schema.Array(
  Schema.Struct({
    key,
    isQuoted: Schema.Boolean,
    optional: Schema.Boolean,
    isNullMissing: Schema.Boolean,
    byDefault: Schema.UndefinedOr(Schema.Literals(["default", "none"]))
  })
).check(Schema.isMaxLength(6))

const objects = Schema.Array(
  Schema.Record(key, Schema.Union([Schema.String, Schema.Int, Schema.Null, Schema.Undefined]))
).check(Schema.isMaxLength(8))

const memberOf = ({ byDefault, isNullMissing, isQuoted, key, optional }: typeof described.Type[number]): Member => {
  const closing = isQuoted ? "\"" : ""
  return {
    key,
    // Of another type is what it does not write.
    write: (value) =>
      (isQuoted && typeof value === "string") || (!isQuoted && typeof value === "number")
        ? String(value)
        : value === null
        ? "null"
        : undefined,
    opening: `${JSON.stringify(key)}:${closing}`,
    closing,
    optional,
    isNullMissing,
    writeDefault: byDefault === undefined ? undefined : () => byDefault === "none" ? undefined : byDefault
  }
}

/** The writer of the members that has written so many objects that its code was generated. */
const oftenUsed = (head: string, members: ReadonlyArray<Member>) => {
  const write = objectWriter(head, members)
  for (let i = 0; i < 1_000; i++) write({}, "")
  return write
}

describe("the writer of an object", () => {
  it.prop(
    "writes the same by generated code as before, byte for byte, whatever its members are",
    [described, objects],
    ([described, objects]) => {
      const members = described.map(memberOf)
      for (const [head, inserted] of [["{", ""], ["{\"_type\":\"A\",", "\"_links\":{},"]] as const) {
        const [first, often] = [objectWriter(head, members), oftenUsed(head, members)]
        for (const object of objects) assert.strictEqual(often(object, inserted), first(object, inserted))
      }
    }
  )

  it("writes members, defaults and what is missing", () => {
    const base = { isQuoted: true, optional: false, isNullMissing: false, byDefault: undefined }
    const members = [
      memberOf({ ...base, key: "a", optional: true, isNullMissing: true }),
      memberOf({ ...base, key: "b" }),
      memberOf({ ...base, key: "1", isQuoted: false, byDefault: "default" }),
      memberOf({ ...base, key: "a b", optional: true })
    ]
    for (const write of [objectWriter("{", members), oftenUsed("{", members)]) {
      assert.strictEqual(write({ a: "x", b: "y", 1: 2, "a b": "z" }, ""), `{"a":"x","b":"y","1":2,"a b":"z"}`)
      assert.strictEqual(write({ a: null, b: "y" }, ""), `{"b":"y","1":default}`)
      assert.strictEqual(write({ a: "x" }, ""), undefined)
      assert.strictEqual(write({ a: 1, b: "y" }, ""), undefined)
    }
    for (const write of [objectWriter("{\"_type\":\"A\",", []), oftenUsed("{\"_type\":\"A\",", [])]) {
      assert.strictEqual(write({}, ""), `{"_type":"A"}`)
    }
  })

  it("writes where code can't be generated", () => {
    const module = new URL("../../../src/Model/codec/objectWriter.ts", import.meta.url).href
    const program = `
      import { objectWriter } from "${module}"
      const member = { key: "a", write: String, opening: '"a":', closing: "", optional: false, isNullMissing: false }
      const write = objectWriter("{", [member])
      const texts = new Set(Array.from({ length: 1000 }, () => write({ a: 1 }, "")))
      console.log(...texts)`
    const flags = ["--disallow-code-generation-from-strings", "--conditions=source", "--input-type=module"]
    const output = execFileSync(process.execPath, [...flags, "--eval", program], { encoding: "utf8" })
    assert.strictEqual(output, `{"a":1}\n`)
  })
})
