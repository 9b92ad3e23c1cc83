import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { KernelEngine, Model } from "../../src/index.ts"
import { sendTo } from "../support/rest.ts"
import { storeMatrix } from "../support/storeMatrix.ts"
import { callerLinksContract } from "./CallerLinks.contract.ts"

storeMatrix((name, layer) => callerLinksContract(name, layer, name === "memory" ? 25 : 5))

class Letter extends Model.Class<Letter>()("Letter", { id: Model.id(), text: Schema.String }) {}

describe("links without access control", () => {
  it.effect("have no collection where it has no GET", () =>
    Effect.gen(function*() {
      const listed = Effect.fnUntraced(function*(methods: ReadonlyArray<"GET" | "POST">) {
        const { baseUrl } = yield* KernelEngine.make("letters").register(Letter, { methods }).test()
        const { body: { _links: { collection, self } } } = yield* sendTo(
          baseUrl,
          "POST",
          "/letters",
          { text: "dear all" },
          { prefer: "return=representation" }
        )
        return [self.methods, collection]
      })
      assert.deepStrictEqual(yield* listed(["POST"]), [["POST"], undefined])
      assert.deepStrictEqual(yield* listed(["GET", "POST"]), [["GET", "POST"], {
        href: "/letters",
        methods: "GET"
      }])
    }))
})
