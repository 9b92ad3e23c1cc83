/**
 * The rows with access control, the answers that both servers have to give, and the key that both verify tokens with.
 */
import * as jose from "jose"
import * as assert from "node:assert/strict"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { type Get, root, type Row, toList, wire } from "./answers.ts"
import { admin, application, buyer, ownedSeeds, toOwnedItem } from "./owned.ts"

/** Where the servers are, below `servers`. */
export const folder = "secured/"

export const titles: ReadonlyMap<string, string> = new Map([
  ["fastify", "Fastify 5, JWT"],
  ["ours", "ours"]
])

const temporary = fs.mkdtempSync(path.join(os.tmpdir(), "bench-"))
process.on("exit", () => fs.rmSync(temporary, { recursive: true, force: true }))

const keys = await jose.generateKeyPair("RS256")
const publicKey = path.join(temporary, "public.pem")
fs.writeFileSync(publicKey, await jose.exportSPKI(keys.publicKey))

/** Tells servers where the key is. */
export const variables = { APPKERNEL_PUBLIC_KEY_PATH: publicKey }

const headersOf = async (claims: typeof buyer, audience = application, expires = "1 hour from now") => {
  const token = await new jose.SignJWT(claims)
    .setProtectedHeader({ alg: "RS256" })
    .setIssuer(application)
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime(expires)
    .sign(keys.privateKey)
  return { authorization: `Bearer ${token}` }
}

const headers = await headersOf(buyer)
const adminHeaders = await headersOf(admin)
const refused = [
  {},
  { authorization: `${headers.authorization.slice(0, -8)}AAAAAAAA` },
  await headersOf(buyer, "another application"),
  await headersOf(buyer, application, "5 minutes ago")
]

const mine = ownedSeeds.filter(({ owner }) => owner === buyer.sub)

// One that has every field.
const example = mine.find(({ description, dimensions }) => description !== undefined && dimensions !== undefined)
const other = ownedSeeds.find(({ owner }) => owner !== buyer.sub)
assert.ok(example !== undefined && other !== undefined)
const one = `${root}/${example.id}`
const notMine = `${root}/${other.id}`
const page = `${root}?page=1&page_size=50`
const [shown, shownToAdmin] = [toOwnedItem(example, false), toOwnedItem(other, true)]

/** Rejects if a server doesn't hold its rules: for callers without a token that counts, buyers, administrators. */
const checkRules = async (get: Get): Promise<void> => {
  for (const without of refused) {
    assert.equal((await get(one, without)).status, 401)
    assert.equal((await get(page, without)).status, 401)
  }
  assert.equal((await get(notMine, headers)).status, 404)
  const seen: unknown = JSON.parse((await get(notMine, adminHeaders)).text)
  assert.deepEqual(seen, wire(shownToAdmin))
  const all: unknown = JSON.parse((await get(page, adminHeaders)).text)
  const items = ownedSeeds.slice(0, 50).map((product) => toOwnedItem(product, true))
  assert.deepEqual(all, wire(toList(items, 1, 50, ownedSeeds.length)))
}

/** The rows of the table by their option names. */
export const rows: ReadonlyMap<string, Row> = new Map<string, Row>([
  ["secured-read", {
    title: "read one",
    request: { method: "GET", path: one, headers },
    status: 200,
    check: async (body, _answer, get) => {
      assert.deepEqual(body, wire(shown))
      await checkRules(get)
    }
  }],
  ["secured-page", {
    title: "page of 50",
    request: { method: "GET", path: page, headers },
    status: 200,
    check: async (body, { total }, get) => {
      assert.equal(total, String(mine.length))
      const items = mine.slice(0, 50).map((product) => toOwnedItem(product, false))
      assert.deepEqual(body, wire(toList(items, 1, 50, mine.length)))
      await checkRules(get)
    }
  }]
])
