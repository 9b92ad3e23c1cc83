import { assert, describe, it } from "@effect/vitest"
import { callersOf } from "../../../src/Http/routes/authorization.ts"

describe("callers as rules see them", () => {
  const user = { subject: "ann", roles: ["admin"], claims: { team: "red", org: { teams: ["a"] } } }

  it("have the roles that theirs include, and those that these include", () => {
    const { roles } = callersOf({ admin: ["clerk"], clerk: ["buyer", "admin"] })(user)
    assert.deepStrictEqual(roles, ["admin", "clerk", "buyer"])
  })

  it("have no claims that are null, at any depth", () => {
    const asCaller = callersOf({})
    assert.strictEqual(asCaller(user), user)
    const claims = { team: null, org: { id: null, teams: [null, "a", { b: null }] }, sid: "s" }
    assert.deepStrictEqual(asCaller({ ...user, claims }).claims, { org: { teams: ["a", {}] }, sid: "s" })
    assert.deepStrictEqual(claims.org.teams, [null, "a", { b: null }])
  })
})
