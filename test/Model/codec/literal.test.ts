import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { execFileSync } from "node:child_process"
import { absentValue, objectFactoryOf } from "../../../src/Model/codec/literal.ts"

const odd = ["constructor", "toString", "__proto__", "\"", "\\", "\u2028", "1", "a.b", "${x}", "\ud800"]

const keys = Arbitrary.array(Arbitrary.schema(Schema.Union([Schema.String, Schema.Literals(odd)])), { maxLength: 40 })
  .pipe(Arbitrary.map((keys) => [...new Set(keys)]))

/** Which of the keys an object has. */
const selections = Arbitrary.array(Arbitrary.array(Arbitrary.schema(Schema.Boolean), { maxLength: 40 }), {
  maxLength: 60
})

const values = [1, "text", null, undefined, { a: 1 }]

describe("an object with known keys", () => {
  it("has the values under their keys, in the order of the keys", () => {
    const make = objectFactoryOf(["a", "b", "c", "d"])
    assert.deepStrictEqual(Object.entries(make([1, undefined, absentValue, null])), [["a", 1], ["b", undefined], [
      "d",
      null
    ]])
  })

  it.prop(
    "is what one that grows would be, whatever the keys, and however many selections there were",
    [keys, selections],
    ([keys, selections]) => {
      const make = objectFactoryOf(keys)
      for (const selection of selections) {
        const row = keys.map((_, i) => selection[i] === true ? values[i % values.length] : absentValue)
        const grown: { [key: string]: unknown } = {}
        for (const [i, key] of keys.entries()) {
          if (row[i] !== absentValue) grown[key] = row[i]
        }
        const made = make(row)
        assert.strictEqual(Object.getPrototypeOf(made), Object.getPrototypeOf(grown))
        assert.deepStrictEqual(Object.entries(made), Object.entries(grown))
      }
    }
  )

  it("is made where code can't be compiled", () => {
    const module = new URL("../../../src/Model/codec/literal.ts", import.meta.url).href
    const program = `
      import { objectFactoryOf } from "${module}"
      console.log(JSON.stringify(objectFactoryOf(["a", "b"])([1, 2])))`
    const flags = ["--disallow-code-generation-from-strings", "--conditions=source", "--input-type=module"]
    const output = execFileSync(process.execPath, [...flags, "--eval", program], { encoding: "utf8" })
    assert.strictEqual(output, `{"a":1,"b":2}\n`)
  })

  it("is a new object each time", () => {
    const make = objectFactoryOf(["a"])
    assert.notStrictEqual(make([1]), make([1]))
  })
})
