import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { makeCallers, makeIncluding } from "../../../src/Access/decision/effectiveGrants.ts"

describe("callers as grants see them", () => {
  const user = { subject: "ann", roles: ["admin"], claims: { team: "red", org: { teams: ["a"] } } }

  it("have the roles that theirs include, and those that these include", () => {
    const { roles } = Option.getOrThrow(
      makeCallers(makeIncluding({ admin: ["clerk"], clerk: ["buyer", "admin"] }))(user)
    )
    assert.deepStrictEqual(roles, ["admin", "clerk", "buyer"])
  })

  it("have no claims that are null, at any depth", () => {
    const callerOf = makeCallers(makeIncluding({}))
    const asCaller = (one: typeof user) => Option.getOrThrow(callerOf(one))
    assert.strictEqual(asCaller(user), user)
    const claims = { team: null, org: { id: null, teams: [null, "a", { b: null }] }, sid: "s" }
    assert.deepStrictEqual(asCaller({ ...user, claims: claims as never }).claims, {
      org: { teams: ["a", {}] },
      sid: "s"
    })
    assert.deepStrictEqual(claims.org.teams, [null, "a", { b: null }])
  })
})
