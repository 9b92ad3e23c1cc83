import { Accounts, Converter, Index, Jwt, type Keys, Model } from "appkernel"
import { type Layer, Schema } from "effect"
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

describe("Accounts.fromModel", () => {
  class User extends Model.Class<User>()("User", {
    id: Model.id({ prefix: "U" }),
    email: Schema.String.pipe(Model.indexed(Index.unique)),
    password: Schema.String.pipe(Model.converted(Converter.contentHasher()), Model.omitted, Model.optional),
    groups: Schema.Array(Schema.Literals(["buyer", "admin"])),
    blocked: Schema.Boolean.pipe(Model.optional),
    age: Schema.Int
  }) {
    get firstName() {
      return this.email
    }
  }

  it("needs nothing when it is built", () => {
    expectTypeOf(
      Accounts.fromModel(User, { login: "email", secret: "password", roles: "groups", blocked: "blocked" })
    ).toEqualTypeOf<Layer.Layer<Accounts.Accounts | Accounts.Passwords>>()
  })

  it("takes fields of the model that have the right type", () => {
    expectTypeOf<Accounts.FieldOf<typeof User, string>>().toEqualTypeOf<"id" | "email" | "password">()
    // @ts-expect-error: no field
    Accounts.fromModel(User, { login: "mail", secret: "password" })
    // @ts-expect-error: a number
    Accounts.fromModel(User, { login: "age", secret: "password" })
    // @ts-expect-error: not stored
    Accounts.fromModel(User, { login: "firstName", secret: "password" })
    // @ts-expect-error: one text
    Accounts.fromModel(User, { login: "email", secret: "password", roles: "email" })
    // @ts-expect-error: a text
    Accounts.fromModel(User, { login: "email", secret: "password", blocked: "email" })
  })
})
