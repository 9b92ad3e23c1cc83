import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Ref, Result, Schema } from "effect"
import { type Condition, etagOf } from "../../../src/Http/request/entityTags.ts"
import {
  guarded,
  isCreateOnly,
  none,
  ofRead,
  type Preconditions,
  read
} from "../../../src/Http/request/preconditions.ts"
import { RepositoryError } from "../../../src/index.ts"

const given = (headers: { readonly [name: string]: string }) => Result.getOrUndefined(read(headers))

const conditionOf = (header: string) => given({ "if-match": header })?.ifMatch

const strong = (opaque: string) => ({ weak: false, opaque })
const weak = (opaque: string) => ({ weak: true, opaque })

describe("preconditions", () => {
  it("are read as RFC 9110 defines them", () => {
    assert.strictEqual(given({}), none)
    const headers: ReadonlyArray<readonly [string, Condition]> = [
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

  it("of a read compare strongly for If-Match, weakly for If-None-Match, and in this order", () => {
    const at = (headers: { readonly [name: string]: string }, version?: number) =>
      ofRead(given(headers) ?? none, version)
    assert.strictEqual(ofRead(none, 3), "proceed")
    assert.strictEqual(at({ "if-none-match": etagOf(3, "{}") }, 3), "not modified")
    assert.strictEqual(ofRead(given({ "if-none-match": etagOf(3, "{}") }) ?? none, 3, "{}"), "not modified")
    assert.strictEqual(ofRead(given({ "if-none-match": etagOf(3, "{}") }) ?? none, 3, "[]"), "proceed")
    assert.strictEqual(ofRead(given({ "if-none-match": `"3"` }) ?? none, 3, "{}"), "proceed")
    assert.match(etagOf(3, "{}"), /^"3-[\da-f]{16}"$/u)
    assert.strictEqual(at({ "if-none-match": `W/"3"` }, 3), "not modified")
    assert.strictEqual(at({ "if-none-match": `"2", "4"` }, 3), "proceed")
    assert.strictEqual(at({ "if-none-match": "*" }, 3), "not modified")
    assert.strictEqual(at({ "if-none-match": "*" }), "not modified")
    assert.strictEqual(at({ "if-none-match": `"3"` }), "proceed")
    assert.strictEqual(at({ "if-match": `"2", "3"` }, 3), "proceed")
    assert.strictEqual(at({ "if-match": `W/"3"` }, 3), "failed")
    assert.strictEqual(at({ "if-match": `"3"` }), "failed")
    assert.strictEqual(at({ "if-match": "*" }), "proceed")
    assert.strictEqual(at({ "if-match": `"2"`, "if-none-match": `"3"` }, 3), "failed")
    assert.strictEqual(at({ "if-match": `"3"`, "if-none-match": `"3"` }, 3), "not modified")
  })

  it("require a new document by If-None-Match: *", () => {
    assert.isTrue(isCreateOnly(given({ "if-none-match": "*" }) ?? none))
    assert.isFalse(isCreateOnly(given({ "if-none-match": `"1"` }) ?? none))
    assert.isFalse(isCreateOnly(none))
  })
})

const notFound = new RepositoryError.DocumentNotFound({ model: "Note", id: "N1" })

const retry = <A, E extends { readonly _tag: string }>(attempt: Effect.Effect<A, E>) =>
  Effect.retry(attempt, { while: ({ _tag }) => _tag === "VersionConflict" })

/** A document of one version, to which others write just before the write at hand, as often as `others` says. */
const document = Effect.fnUntraced(function*(start: number | undefined, options: { readonly others?: number } = {}) {
  const version = yield* Ref.make(start)
  const others = yield* Ref.make(options.others ?? 0)
  const expectations: Array<number | undefined> = []
  const write = Effect.fnUntraced(function*(expected: number | undefined) {
    expectations.push(expected)
    const left = yield* Ref.getAndUpdate(others, (left) => left - 1)
    if (left > 0) yield* Ref.update(version, (stored) => (stored ?? 0) + 1)
    const stored = yield* Ref.get(version)
    if (stored === undefined) return yield* notFound
    if (expected !== undefined && expected !== stored) {
      return yield* new RepositoryError.VersionConflict({ model: "Note", id: "N1", expected })
    }
    yield* Ref.set(version, stored + 1)
    return stored + 1
  })
  const current = Effect.flatMap(Ref.get(version), (stored) => stored === undefined ? notFound : Effect.succeed(stored))
  return { write, current, retry, expectations, isVersioned: true }
})

const ifMatch = (header: string): Preconditions => ({ ifMatch: conditionOf(header), ifNoneMatch: undefined })
const ifNoneMatch = (header: string): Preconditions => ({ ifMatch: undefined, ifNoneMatch: conditionOf(header) })

describe("a write under preconditions", () => {
  it.effect("without conditions, or with any, is the write itself", () =>
    Effect.gen(function*() {
      for (const preconditions of [none, ifMatch("*")]) {
        const note = yield* document(3)
        assert.strictEqual(yield* guarded(preconditions, note), 4)
        assert.deepStrictEqual(note.expectations, [undefined])
      }
    }))

  it.effect("changes the named version or nothing", () =>
    Effect.gen(function*() {
      const note = yield* document(3)
      assert.strictEqual(yield* guarded(ifMatch(`"3"`), note), 4)
      assert.deepStrictEqual(note.expectations, [3])
      assert.propertyVal(yield* Effect.flip(guarded(ifMatch(`"3"`), note)), "_tag", "PreconditionFailed")
      assert.propertyVal(yield* Effect.flip(guarded(ifMatch(`"3", "5"`), note)), "_tag", "PreconditionFailed")
      assert.strictEqual(yield* guarded(ifMatch(`"3", "4"`), note), 5)
      assert.propertyVal(yield* Effect.flip(guarded(ifMatch(`W/"5"`), note)), "_tag", "PreconditionFailed")
      assert.propertyVal(yield* Effect.flip(guarded(ifMatch(`"05"`), note)), "_tag", "PreconditionFailed")
      assert.strictEqual(yield* note.current, 5)
    }))

  it.effect("does not change a concurrent write's result", () =>
    Effect.gen(function*() {
      const single = yield* document(3, { others: 1 })
      assert.propertyVal(yield* Effect.flip(guarded(ifMatch(`"3"`), single)), "_tag", "PreconditionFailed")
      const either = yield* document(3, { others: 1 })
      assert.strictEqual(yield* guarded(ifMatch(`"3", "4"`), either), 5)
      assert.deepStrictEqual(either.expectations, [3, 4])
      const neither = yield* document(3, { others: 2 })
      assert.propertyVal(yield* Effect.flip(guarded(ifMatch(`"3", "4"`), neither)), "_tag", "PreconditionFailed")
      const other = yield* document(3, { others: 1 })
      assert.propertyVal(yield* Effect.flip(guarded(ifNoneMatch(`"4"`), other)), "_tag", "PreconditionFailed")
    }))

  it.effect("may require that no document exists, or none of some versions", () =>
    Effect.gen(function*() {
      const note = yield* document(3)
      assert.propertyVal(yield* Effect.flip(guarded(ifNoneMatch("*"), note)), "_tag", "PreconditionFailed")
      assert.propertyVal(yield* Effect.flip(guarded(ifNoneMatch(`W/"3"`), note)), "_tag", "PreconditionFailed")
      assert.strictEqual(yield* guarded(ifNoneMatch(`"2"`), note), 4)
    }))

  it.effect("on a missing document finds nothing, as without them", () =>
    Effect.gen(function*() {
      for (const preconditions of [none, ifMatch("*"), ifMatch(`"3"`), ifMatch(`"3", "4"`), ifNoneMatch("*")]) {
        const note = yield* document(undefined)
        assert.propertyVal(yield* Effect.flip(guarded(preconditions, note)), "_tag", "DocumentNotFound")
      }
    }))

  it.effect("of a model without versions matches no tag, and anything as *", () =>
    Effect.gen(function*() {
      const expectations: Array<number | undefined> = []
      const note = {
        isVersioned: false,
        retry,
        current: Effect.undefined,
        write: (expected: number | undefined) => Effect.sync(() => expectations.push(expected))
      }
      assert.propertyVal(yield* Effect.flip(guarded(ifMatch(`"3"`), note)), "_tag", "PreconditionFailed")
      assert.propertyVal(yield* Effect.flip(guarded(ifNoneMatch("*"), note)), "_tag", "PreconditionFailed")
      yield* guarded(ifMatch("*"), note)
      yield* guarded(ifNoneMatch(`"3"`), note)
      assert.deepStrictEqual(expectations, [undefined, undefined])
    }))
})
