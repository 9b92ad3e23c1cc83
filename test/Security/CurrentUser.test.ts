import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { CurrentUser, Generator } from "../../src/index.ts"

const userOf = (subject: string) => ({ subject, roles: ["buyer"], claims: { tenant: subject } })

describe("CurrentUser", () => {
  it.effect("is an option where there may be nobody", () =>
    Effect.gen(function*() {
      const nobody: Option.Option<CurrentUser["Service"]> = yield* CurrentUser.option
      assert.isTrue(Option.isNone(nobody))
      const jane = yield* Effect.provideService(CurrentUser.option, CurrentUser, userOf("U1"))
      assert.deepStrictEqual(jane, Option.some(userOf("U1")))
    }))

  it.effect("gives each of many fibers its own identifier, and none after it", () =>
    Effect.gen(function*() {
      const subjects = Array.from({ length: 50 }, (_, i) => `U${i}`)
      const read = Effect.all([
        Effect.map(CurrentUser, ({ subject }) => subject),
        Effect.andThen(Effect.yieldNow, Generator.currentUserId)
      ])
      const seen = yield* Effect.forEach(
        subjects,
        (subject) => Effect.provideService(read, CurrentUser, userOf(subject)),
        { concurrency: 50 }
      )
      assert.deepStrictEqual(seen, subjects.map((subject) => [subject, subject]))
      assert.isUndefined(yield* Generator.currentUserId)
    }))
})
