import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as fs from "node:fs"
import * as path from "node:path"
import { Jwt, Keys } from "../../../src/index.ts"
import { freshDirectory } from "../../support/folders.ts"

interface Vectors {
  readonly time: number
  readonly vectors: ReadonlyArray<{
    readonly algorithm: Keys.Algorithm
    readonly privatePem: string
    readonly token: string
  }>
}

const { time, vectors }: Vectors = JSON.parse(
  fs.readFileSync(path.join(import.meta.dirname, "../fixtures/verifiedByPyJwt.json"), "utf8")
)

describe("Tokens that PyJWT has verified", () => {
  // Signatures of these algorithms are deterministic, those of ES256 are not.
  for (const { algorithm, privatePem, token } of vectors) {
    it.effect(`${algorithm}: are signed byte by byte as then`, () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(time)
        const folder = yield* freshDirectory
        fs.mkdirSync(path.join(folder, "keys"))
        fs.writeFileSync(path.join(folder, "keys/private.pem"), privatePem)
        const keys = Keys.layerWith({ cfgDir: folder, development: false }).pipe(Layer.provide(NodeServices.layer))
        const signed = yield* Effect.provide(
          Effect.flatMap(Jwt.Jwt, (jwt) =>
            jwt.sign({
              subject: "Ué-1",
              roles: ["buyer", "größe"],
              claims: { sid: "S1", tenant: { id: 7 } },
              expiresIn: "36500 days"
            })),
          Layer.provide(Jwt.layerWith({ application: "shop" }), keys)
        )
        assert.strictEqual(Redacted.value(signed), token)
      }))
  }
})
