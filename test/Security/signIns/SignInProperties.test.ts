import { assert, it } from "@effect/vitest"
import { Clock, Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Accounts, EmbeddedStore } from "../../../src/index.ts"
import * as SignIns from "../../../src/Security/SignIns.ts"
import { shop } from "../../support/tokens.ts"

const Index = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 7 }))

const Step = Schema.Union([
  Schema.Struct({ do: Schema.Literal("sign in"), user: Index }),
  Schema.Struct({ do: Schema.Literals(["refresh", "revoke", "revoke access"]), of: Index, token: Index }),
  Schema.Struct({ do: Schema.Literals(["sign out", "block"]), user: Index }),
  Schema.Struct({
    do: Schema.Literal("wait"),
    minutes: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 20 }))
  })
])

const userCount = 2

/** Of refresh tokens, in minutes. */
const lifetime = 30

/** What the sentences of the documentation say, with no store. */
interface Modelled {
  readonly subject: string
  readonly tokens: Array<SignIns.Issued>
  isLive: boolean
  expires: number
}

/** Accounts that can be blocked. */
const blocked = new Set<string>()
const accounts = Layer.succeed(
  Accounts.Accounts,
  Accounts.Accounts.of({
    find: () => Effect.succeedNone,
    findBySubject: (subject) =>
      Effect.sync(() =>
        blocked.has(subject) ? Option.none() : Option.some({ subject, roles: [subject], secret: Redacted.make("") })
      )
  })
)

it.layer(Layer.mergeAll(shop("ES256"), accounts, EmbeddedStore.layerMemory))("Sign-ins", (it) => {
  it.effect.prop(
    "live as long as their documentation says, whatever is done in whichever order",
    [Schema.Array(Step).check(Schema.isMinLength(20), Schema.isMaxLength(40))],
    ([steps]) =>
      Effect.gen(function*() {
        blocked.clear()
        const run = crypto.randomUUID()
        const subjectOf = (user: number) => `${run}-${user % userCount}`
        const all: Array<Modelled> = []
        let now = 0
        const check = Effect.gen(function*() {
          for (const { expires, isLive, subject, tokens } of all) {
            const { accessToken } = tokens.at(-1)!
            const { payload } = decoded(accessToken)
            const user = { subject, roles: [], claims: payload }
            // The store may not have removed an expired one yet.
            if (now < expires) {
              assert.strictEqual(yield* SignIns.isLive(user), isLive && !blocked.has(subject))
            }
          }
        })
        for (const step of steps) {
          switch (step.do) {
            case "sign in": {
              const subject = subjectOf(step.user)
              const issued = yield* SignIns.signIn({ subject, roles: [] })
              all.push({ subject, tokens: [issued], isLive: true, expires: now + lifetime })
              break
            }
            case "wait":
              now += step.minutes
              yield* TestClock.adjust(Duration.minutes(step.minutes))
              break
            case "sign out":
              yield* SignIns.signOut(subjectOf(step.user))
              for (const one of all) if (one.subject === subjectOf(step.user)) one.isLive = false
              break
            case "block":
              if (!blocked.delete(subjectOf(step.user))) blocked.add(subjectOf(step.user))
              break
            default: {
              const one = all[step.of % Math.max(1, all.length)]
              if (one === undefined) break
              const issued = one.tokens[step.token % one.tokens.length]!
              if (step.do === "revoke" || step.do === "revoke access") {
                // An expired access token is no token.
                const isAccess = step.do === "revoke access"
                yield* SignIns.revoke(isAccess ? one.tokens.at(-1)!.accessToken : issued.refreshToken)
                const time = yield* Clock.currentTimeMillis
                const { exp } = decoded(one.tokens.at(-1)!.accessToken).payload
                if (!isAccess || time < (exp + 30) * 1_000) one.isLive = false
                break
              }
              const isCurrent = issued === one.tokens.at(-1) && one.isLive && now < one.expires
                && !blocked.has(one.subject)
              const outcome = yield* Effect.option(SignIns.refresh(issued.refreshToken))
              assert.strictEqual(Option.isSome(outcome), isCurrent)
              if (Option.isSome(outcome)) {
                one.tokens.push(outcome.value)
                one.expires = now + lifetime
              } else one.isLive = false
            }
          }
          yield* check
        }
      }).pipe(
        Effect.provideService(SignIns.Lifetimes, {
          accessToken: Duration.minutes(5),
          refreshToken: Duration.minutes(lifetime),
          revocationDelay: Duration.zero
        })
      )
  )
})

const decoded = (token: Redacted.Redacted<string>) => ({
  payload: JSON.parse(Buffer.from(Redacted.value(token).split(".")[1] ?? "", "base64url").toString()) as {
    readonly [name: string]: unknown
    readonly exp: number
  }
})
