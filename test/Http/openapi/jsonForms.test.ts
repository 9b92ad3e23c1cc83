import { assert, describe, it } from "@effect/vitest"
import { KernelEngine, OpenApi, Service } from "appkernel"
import { Arbitrary, Effect, Result, Schema, SemVer } from "effect"
import { resolvedDocument } from "../../support/resolvedDocument.ts"

const engine = KernelEngine.make("numbers").register(
  Service.make("Numbers").operation("same", {
    path: "./{number}",
    params: { number: Schema.FiniteFromString },
    success: Schema.Struct({ number: Schema.FiniteFromString })
  }, ({ params }) => Effect.succeed(params))
)

const versions = KernelEngine.make("versions").register(
  Service.make("Versions").operation("newest", {
    path: "./newest",
    success: Schema.Struct({ version: Schema.SemVer })
  }, () => Effect.succeed({ version: SemVer.parseUnsafe("1.0.0") }))
)

/** Parts of versions, some of which no version has. */
const identifiers = Schema.Literals([
  "0",
  "1",
  "01",
  "",
  "a",
  "-",
  "x-y",
  "rc",
  "RC",
  "0a",
  "1a1",
  "00-",
  "9007199254740991",
  "9007199254740992",
  "8999999999999999",
  "9007199254739999",
  "10000000000000000",
  "v1",
  "é"
])

const parts = Schema.Array(identifiers).check(Schema.isMinLength(1), Schema.isMaxLength(3))

const version = Schema.Struct({
  core: Schema.Array(identifiers).check(Schema.isMinLength(3), Schema.isMaxLength(3)),
  prerelease: Schema.optionalKey(parts),
  build: Schema.optionalKey(parts)
})

describe("A number that is written as text", () => {
  it.effect.prop(
    "is described by a pattern of finite numbers, all of them",
    { high: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff_ffff })), low: Schema.Int },
    ({ high, low }) =>
      Effect.sync(() => {
        const { paths } = resolvedDocument(OpenApi.make(engine, { title: "Numbers", version: "1" }))
        const path = Object.keys(paths).find((path) => path.includes("{number}")) ?? ""
        const { schema } = paths[path].get.responses["200"].content["application/json"]
        const { pattern } = schema.properties.number
        const accepts = (text: string) =>
          Schema.is(Schema.String.check(Schema.isPattern(new RegExp(pattern, "u"))))(text)
        const bytes = new DataView(new ArrayBuffer(8))
        bytes.setUint32(0, high)
        bytes.setInt32(4, low)
        // Of any bits, and near the largest number.
        for (const any of [bytes.getFloat64(0), Number.MAX_VALUE - high * 2 ** 960, Number.MAX_VALUE, -1e308, 5e-324]) {
          assert.strictEqual(accepts(String(any)), Number.isFinite(any), String(any))
        }
        for (
          const infinite of [
            "4e0786",
            "1.8e308",
            "2e308",
            "1e309",
            "1e0309",
            "10e308",
            "1e9999",
            "9".repeat(309),
            "1.7976931348623158e308"
          ]
        ) {
          assert.isFalse(accepts(infinite), infinite)
        }
        for (
          const finite of [
            "0",
            "-12.50",
            "1e-999",
            "9".repeat(308),
            "9.9e307",
            "1.7e+308",
            "12e5",
            "12.5e3",
            "10E+2",
            "1e007",
            "999999999e299"
          ]
        ) {
          assert.isTrue(accepts(finite) && Number.isFinite(Number(finite)), finite)
        }
      })
  )
})

describe("A version", () => {
  it.effect.prop(
    "is described by a pattern of all versions, and of nothing else",
    { parts: Arbitrary.schema(version), one: identifiers, some: Arbitrary.schema(Schema.SemVer) },
    ({ one, parts: { build, core, prerelease }, some }) =>
      Effect.sync(() => {
        const { paths } = resolvedDocument(OpenApi.make(versions, { title: "Versions", version: "1" }))
        const path = Object.keys(paths).find((path) => path.endsWith("/newest")) ?? ""
        const { schema } = paths[path].get.responses["200"].content["application/json"]
        const { pattern } = schema.properties.version
        const accepts = Schema.is(Schema.String.check(Schema.isPattern(new RegExp(pattern, "u"))))
        const after = `${prerelease === undefined ? "" : `-${prerelease.join(".")}`}${
          build === undefined ? "" : `+${build.join(".")}`
        }`
        for (
          const text of [
            core.join(".") + after,
            `1.0.0${after}`,
            `1.${one}.0`,
            `1.0.0-${one}`,
            `1.0.0-rc.${one}`,
            `1.0.0+${one}`,
            SemVer.format(some),
            ` ${SemVer.format(some)}`
          ]
        ) {
          assert.strictEqual(accepts(text), Result.isSuccess(SemVer.parse(text)), text)
        }
      })
  )
})
