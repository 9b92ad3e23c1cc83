import { Jwt, type Keys } from "appkernel"
import type { Layer } from "effect"
import type { HttpClient } from "effect/http"
import { describe, expectTypeOf, it } from "vitest"

const foreign = Jwt.discovered({ issuer: "https://login.example" })

describe("Jwt.layerWith", () => {
  it("needs the keys of the application where no issuers are declared", () => {
    expectTypeOf(Jwt.layerWith({ application: "shop" })).toEqualTypeOf<Layer.Layer<Jwt.Jwt, never, Keys.Keys>>()
    expectTypeOf(Jwt.layerWith({ application: "shop", issuers: undefined })).toEqualTypeOf<
      Layer.Layer<Jwt.Jwt, never, Keys.Keys>
    >()
  })

  it("needs what its issuers need", () => {
    expectTypeOf(Jwt.layerWith({ application: "shop", issuers: [foreign] })).toEqualTypeOf<
      Layer.Layer<Jwt.Jwt, never, HttpClient.HttpClient>
    >()
    expectTypeOf(Jwt.layerWith({ application: "shop", issuers: [Jwt.local, foreign] })).toEqualTypeOf<
      Layer.Layer<Jwt.Jwt, never, HttpClient.HttpClient | Keys.Keys>
    >()
  })

  it("takes no issuers that may be undefined, which would need the keys of the application", () => {
    const maybe: readonly [typeof foreign] | undefined = Math.random() < 0.5 ? [foreign] : undefined
    // @ts-expect-error
    Jwt.layerWith({ application: "shop", issuers: maybe })
    const options: { readonly application: string; readonly issuers?: readonly [typeof foreign] } = {
      application: "shop"
    }
    // @ts-expect-error
    Jwt.layerWith(options)
    expectTypeOf(options.issuers).toEqualTypeOf<readonly [typeof foreign] | undefined>()
    // @ts-expect-error
    const made = Jwt.make({ application: "shop", issuers: maybe })
    expectTypeOf(made).not.toBeAny()
  })

  it("signs claims that are JSON", () => {
    expectTypeOf<Jwt.TokenContent["claims"]>().not.toEqualTypeOf<{ readonly [name: string]: unknown } | undefined>()
    // @ts-expect-error
    const content: Jwt.TokenContent = { subject: "U1", claims: { run: () => 1 } }
    expectTypeOf(content).toEqualTypeOf<Jwt.TokenContent>()
  })
})
