import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Document } from "../../../packages/document-store/src/DocumentStore.ts"
import { Model } from "../../../src/index.ts"
import { unreadableProblems } from "../../../src/Repository/query/unreadable.ts"
import { modelVersionsOf } from "../../../src/Repository/versions/modelVersions.ts"

/** A change of a model, from the newest form back: what is in the form before, and the way up and down. */
type Change = "rename" | "add" | "split" | "retype" | "optional"

/** Makes a model that has been changed in these ways, the last one the newest. */
const modelOf = (changes: ReadonlyArray<Change>) => {
  // The fields of the newest form, and the forms before it: each change has fields of its own.
  const fields: { [name: string]: Schema.Top } = { kept: Schema.String }
  const versions: Array<unknown> = []
  for (const [i, change] of changes.entries()) {
    const [a, b] = [`a${i}`, `b${i}`]
    if (change === "rename") {
      fields[b] = Schema.String
      versions.push(Model.was.renamed(a, b))
    } else if (change === "add") {
      fields[a] = Schema.Int.pipe(Model.withDefault(() => 3)) as never
      versions.push(Model.was.added(a as never))
    } else if (change === "split") {
      fields[a] = Schema.String
      fields[b] = Schema.String
      versions.push(Model.was.replaced([a, b] as never, { [`whole${i}`]: Schema.String }, {
        up: (before) => {
          const [first = "", ...rest] = Reflect.get(before, `whole${i}`).split(" ")
          return { [a]: first, [b]: rest.join(" ") }
        },
        // It loses where the first part ends.
        down: (next) => ({ [`whole${i}`]: [Reflect.get(next, a), Reflect.get(next, b)].join(" ") })
      }))
    } else if (change === "retype") {
      fields[a] = Schema.Int
      versions.push(Model.was.retyped(a as never, Schema.String, { up: Number, down: String }))
    } else {
      fields[a] = Schema.String.pipe(Model.optional) as never
      versions.push(Model.was.madeOptional(a as never, { down: () => "none" as never }))
    }
  }
  return Model.Class<unknown>()("Any", { id: Model.id(), ...fields } as never, { versions: versions as never }) as never
}

const texts = ["", "a", "a b", " a", "b  c ", "ü"]

/** A document of the newest form, whose values the numbers choose. */
const documentOf = (changes: ReadonlyArray<Change>, numbers: ReadonlyArray<number>): Document => {
  const numberAt = (i: number) => numbers[i % numbers.length] ?? 0
  const textAt = (i: number) => texts[numberAt(i) % texts.length]
  return {
    _id: "1",
    kept: textAt(0),
    ...Object.fromEntries(changes.flatMap((change, i): ReadonlyArray<readonly [string, unknown]> => {
      const [a, b] = [`a${i}`, `b${i}`]
      return change === "rename"
        ? [[b, textAt(i)]]
        : change === "split"
        ? [[a, textAt(i)], [b, textAt(i + 1)]]
        : change === "optional"
        ? numberAt(i) % 2 === 0 ? [] : [[a, textAt(i)]]
        : [[a, numberAt(i)]]
    }))
  }
}

const Changes = Schema.Array(Schema.Literals(["rename", "add", "split", "retype", "optional"])).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(6)
)

const Numbers = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 11 }))).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(8)
)

/** The forms of models in which a name is used again: of a renamed field, and of one that was removed. */
const reused = {
  renamed: Model.Class<unknown>()("Renamed", {
    id: Model.id(),
    fullName: Schema.String,
    name: Schema.String.pipe(Model.withDefault(() => "-"))
  }, { versions: [Model.was.renamed("name", "fullName"), Model.was.added("name" as never)] }),
  removed: Model.Class<unknown>()("Removed", {
    id: Model.id(),
    fullName: Schema.String,
    name: Schema.String.pipe(Model.optional)
  }, {
    versions: [
      Model.was.replaced(["fullName"] as never, { name: Schema.String }, {
        up: ({ name }: { readonly name: string }) => ({ fullName: name }),
        down: (next) => ({ name: String(Reflect.get(next, "fullName")) })
      }),
      Model.was.added("name" as never)
    ]
  })
}

describe("the forms of a model", () => {
  it.effect.prop(
    "give back what was stored in an earlier form, whatever the ways up and down lose",
    [Changes, Numbers],
    ([made, numbers]) =>
      Effect.sync(() => {
        const document = documentOf(made, numbers)
        const versions = modelVersionsOf(modelOf(made))
        for (let form = 1; form <= versions.newest; form++) {
          const stored = Result.getOrThrow(versions.downgrade(document, form))
          assert.strictEqual(stored["_form"], form === 1 ? undefined : form)
          assert.deepStrictEqual(versions.upgrade(stored), { ...document, _form: versions.newest })
          // Down again, it is stored alike.
          assert.deepStrictEqual(Result.getOrThrow(versions.downgrade(versions.upgrade(stored), form)), stored)
        }
      })
  )

  it.effect.prop(
    "take what an older process has written since, and keep the rest",
    [Changes, Numbers, Schema.Literals(["", "a", "a b", "c d e"])],
    ([made, numbers, written]) =>
      Effect.sync(() => {
        const changes: ReadonlyArray<Change> = [...made, "split"]
        const at = changes.indexOf("split")
        const document = documentOf(changes, numbers)
        const versions = modelVersionsOf(modelOf(changes))
        const stored = Result.getOrThrow(versions.downgrade(document, 1))
        const [first = "", ...rest] = written.split(" ")
        const isSame = written === `${String(document[`a${at}`])} ${String(document[`b${at}`])}`
        assert.deepStrictEqual(versions.upgrade({ ...stored, [`whole${at}`]: written, kept: "new" }), {
          ...document,
          kept: "new",
          ...(isSame ? {} : { [`a${at}`]: first, [`b${at}`]: rest.join(" ") }),
          _form: versions.newest
        })
      })
  )

  it("tell a document of a form that is not known yet", () => {
    const versions = modelVersionsOf(modelOf(["rename"]))
    const problems = unreadableProblems(versions.upgrade({ _id: "1", _form: 9, kept: "a", b0: "b" }))
    assert.deepStrictEqual(problems?.map(({ message }) => message), [
      "is 9, which this process does not know: it knows forms up to 2"
    ])
  })

  it("can't be declared if a form has what it can't have", () => {
    const declare = (versions: unknown) => () =>
      Model.Class<unknown>()("Any", { id: Model.id(), b: Schema.String } as never, { versions: versions as never })
    assert.throws(
      declare([Model.was.renamed("a", "c")]),
      "Any can't have been what its versions[0] says: form 2 has no field \"c\""
    )
    assert.throws(declare([Model.was.renamed("id", "b")]), "form 2 has a field \"id\" already")
  })

  for (const [kind, model] of Object.entries(reused)) {
    it(`keep apart the values of a name that is used again, of a field that was ${kind}`, () => {
      const versions = modelVersionsOf(model)
      const document = { _id: "1", fullName: "Ann Lee", name: "annie" }
      const stored = [1, 2, 3].map((form) => Result.getOrThrow(versions.downgrade(document, form)))
      assert.deepStrictEqual(stored.map((one) => [one["name"], one["fullName"]]), [
        ["Ann Lee", undefined],
        [undefined, "Ann Lee"],
        ["annie", "Ann Lee"]
      ])
      for (const one of stored) assert.deepStrictEqual(versions.upgrade(one), { ...document, _form: 3 })
      // A write of a process that knows the first form only.
      const written = { ...stored[0], name: "Ann Smith" }
      assert.deepStrictEqual(versions.upgrade(written), { ...document, fullName: "Ann Smith", _form: 3 })
      assert.deepStrictEqual(versions.upgrade({ _id: "2", name: "Bo" }), { _id: "2", fullName: "Bo", _form: 3 })
      assert.isUndefined(versions.pathIn("name", 1))
    })
  }
})
