/**
 * The service with access control on Fastify 5: its JWT plugin verifies tokens, and caches verified ones; the rest is by
 * hand.
 */
import jwt from "@fastify/jwt"
import * as fs from "node:fs"
import { root, toError, toList } from "../../answers.ts"
import { admin, application, buyer, ownedSeeds, toOwnedItem } from "../../owned.ts"
import type { OwnedProduct } from "../../owned.ts"
import { app } from "../app.ts"
import { failure, item, pageOf, paging, string } from "../schemas.ts"

declare module "@fastify/jwt" {
  interface FastifyJWT {
    readonly user: { readonly sub: string; readonly roles: ReadonlyArray<string> }
  }
}

const byId = new Map(ownedSeeds.map((product) => [product.id, product]))
const byOwner = Map.groupBy(ownedSeeds, ({ owner }) => owner)

const ownedItem = {
  ...item,
  required: [...item.required, "owner"],
  properties: { ...item.properties, owner: string, cost: { type: "number" } }
} as const

await app.register(jwt, {
  secret: { public: fs.readFileSync(process.env["APPKERNEL_PUBLIC_KEY_PATH"] ?? "") },
  verify: {
    algorithms: ["RS256"],
    allowedIss: application,
    allowedAud: application,
    requiredClaims: ["sub", "exp"],
    clockTolerance: 30_000,
    cache: 10_000
  }
})

const isAdmin = ({ roles }: { readonly roles: ReadonlyArray<string> }): boolean => roles.includes(admin.roles[0] ?? "")
const isBuyer = ({ roles }: { readonly roles: ReadonlyArray<string> }): boolean => roles.includes(buyer.roles[0] ?? "")

app.addHook("onRequest", async (request, reply) => {
  const user = await request.jwtVerify<{ readonly roles: ReadonlyArray<string> }>()
  if (!isAdmin(user) && !isBuyer(user)) return reply.code(403).send(toError(403, "Not allowed"))
})

app.get<{ Params: { readonly id: string } }>(
  `${root}/:id`,
  { schema: { response: { 200: ownedItem, 401: failure, 404: failure } } },
  (request, reply) => {
    const all = isAdmin(request.user)
    const product = byId.get(request.params.id)
    return product === undefined || !(all || product.owner === request.user.sub)
      ? reply.code(404).send(toError(404, `There is no product ${request.params.id}`))
      : reply.send(toOwnedItem(product, all))
  }
)

app.get<{ Querystring: { readonly page: number; readonly page_size: number } }>(
  root,
  {
    schema: {
      querystring: { type: "object", properties: paging },
      response: { 200: pageOf(ownedItem), 400: failure, 401: failure }
    }
  },
  (request, reply) => {
    const { page, page_size: pageSize } = request.query
    const all = isAdmin(request.user)
    const found: ReadonlyArray<OwnedProduct> = all ? ownedSeeds : byOwner.get(request.user.sub) ?? []
    const items = found.slice((page - 1) * pageSize, page * pageSize).map((product) => toOwnedItem(product, all))
    return reply.header("x-total-count", found.length).send(toList(items, page, pageSize, found.length))
  }
)

console.log(`listening ${new URL(await app.listen({ host: "127.0.0.1", port: Number(process.argv[2]) })).port}`)
