/** Actions under preconditions: `If-Match` counts for what may change a document, as it does for a `PATCH`. */
import { assert, describe, it } from "@effect/vitest"
import { EmbeddedStore, History, KernelEngine, Model, OpenApi, Permission, Repository, Resource, Role } from "appkernel"
import { Effect, Option, Schema } from "effect"
import { sendTo } from "../../support/rest.ts"

class Account extends Model.Class<Account>()("Account", {
  id: Model.id({ prefix: "A" }),
  owner: Schema.String,
  balance: Schema.Int,
  secret: Schema.String.pipe(Model.optional),
  ...Model.versioned,
  ...Model.historied
}) {}

const Accounts = Resource.make(Account, { methods: ["GET", "POST", "PATCH", "DELETE"] })
  .action(
    "deposit",
    { payload: { amount: Schema.Int }, success: Account },
    (account, { payload: { amount } }) =>
      Effect.gen(function*() {
        const accounts = yield* Repository.for(Account)
        return yield* accounts.save(Account.make({ ...account, balance: account.balance + amount }))
      })
  )
  .action("balance", { success: Schema.Int }, ({ balance }) => Effect.succeed(balance))
  .action(History.revisions(Account))
  .action(History.restore(Account))

const store = EmbeddedStore.layerMemory

const engine = KernelEngine.make("bank").register(Accounts)

const guarded = KernelEngine.make("bank")
  .register(
    Accounts
      .grant(Role("owner"), { rows: (me) => ($) => $.owner.equals(me.subject), hide: ["secret"] })
      .grant(Role("auditor"), {})
  )
  .enableSecurity()

const ofAccount = Permission.make(
  "the account is open",
  { model: Account },
  ({ document }) => Effect.map(document, Option.exists(({ balance }) => balance < 100))
)

/** The callers of each role see other links; those of some see other fields or documents, too. */
const sharing = KernelEngine.make("bank")
  .register(
    Accounts
      .grant(Role("teller"), { methods: ["GET", "DELETE", "deposit"] })
      .grant(Role("boss"), {})
      .grant(Role("keeper"), { methods: ["GET", "DELETE", "deposit", "balance"], hide: ["secret"] })
      .grant(Permission.and(Role("signer"), ofAccount), { methods: ["GET", "DELETE", "deposit", "restore_revision"] })
      .grant(Role("owner"), { methods: ["GET", "DELETE", "deposit"] })
      .grant(Role("owner"), { methods: ["PATCH"], rows: (me) => ($) => $.owner.equals(me.subject) })
  )
  .enableSecurity()

describe("actions under preconditions", () => {
  it.effect("are performed on the document that is named, and are a 412 on another one", () =>
    Effect.gen(function*() {
      const { baseUrl, client } = yield* engine.test({ store })
      const { result } = yield* client.accounts.create({ payload: { owner: "ann", balance: 1 } })
      const path = `/accounts/${result}`
      const deposit = (headers: { readonly [name: string]: string }, amount: unknown = 1) =>
        sendTo(baseUrl, "POST", `${path}/deposit`, { amount }, headers)
      const tag = Effect.map(sendTo(baseUrl, "GET", path), ({ headers }) => String(headers["etag"]))
      const first = yield* tag
      assert.strictEqual((yield* deposit({ "if-match": first })).status, 200)
      assert.strictEqual((yield* deposit({ "if-match": first })).status, 412)
      assert.strictEqual((yield* deposit({ "if-none-match": yield* tag })).status, 412)
      assert.strictEqual((yield* deposit({ "if-match": `"none", ${yield* tag}` })).status, 200)
      assert.strictEqual((yield* deposit({ "if-match": "*" })).status, 200)
      assert.strictEqual((yield* deposit({})).status, 200)
      assert.strictEqual((yield* deposit({ "if-match": "no tag" })).status, 400)
      // As for a PATCH, what can't be read comes first, and what is not there before both.
      assert.strictEqual((yield* deposit({ "if-match": first }, "much")).status, 400)
      assert.strictEqual(
        (yield* sendTo(baseUrl, "POST", "/accounts/A-none/deposit", { amount: 1 }, { "if-match": first }))
          .status,
        404
      )
      // What changes nothing has no document to protect.
      const balance = yield* sendTo(baseUrl, "GET", `${path}/balance`, undefined, { "if-match": first })
      assert.deepStrictEqual([balance.status, balance.body.result], [200, 5])
    }))

  it.effect("let one of two writers pass who have read the same document", () =>
    Effect.gen(function*() {
      const { as, repositories } = yield* guarded.test({ store })
      const account = yield* repositories.accounts.save(Account.make({ owner: "ann", balance: 0, secret: "s" }))
      const params = { id: account.id }
      const [ann, auditor] = [
        yield* as({ subject: "ann", roles: ["owner"] }),
        yield* as({ subject: "bob", roles: ["auditor"] })
      ]
      // Each sees another text of the document, and has a tag of their own.
      const tagOf = (caller: typeof ann) =>
        Effect.map(
          caller.accounts.get({ params, responseMode: "response-only" }),
          ({ headers }) => headers["etag"] ?? ""
        )
      for (let round = 1; round <= 5; round++) {
        const tags = [yield* tagOf(ann), yield* tagOf(auditor)] as const
        assert.notStrictEqual(tags[0], tags[1])
        const deposit = (caller: typeof ann, tag: string) =>
          caller.accounts.deposit({ params, payload: { amount: 1 }, headers: { "if-match": tag } }).pipe(
            Effect.map(({ balance }) => balance),
            Effect.catchTag("PreconditionFailed", () => Effect.succeed("refused" as const))
          )
        const answers = yield* Effect.all([deposit(ann, tags[0]), deposit(auditor, tags[1])], { concurrency: 2 })
        assert.sameMembers(answers, [round, "refused"])
      }
    }))

  it.effect("compare the tag of a GET by the same caller, as a DELETE does, whatever links, fields and rows they see", () =>
    Effect.gen(function*() {
      const { as, repositories } = yield* sharing.test({ store })
      for (const role of ["teller", "boss", "keeper", "owner", "signer"]) {
        const account = yield* repositories.accounts.save(Account.make({ owner: "ann", balance: 0, secret: "s" }))
        const params = { id: account.id }
        const { accounts } = yield* as({ subject: "ann", roles: [role] })
        const tag = Effect.map(
          accounts.get({ params, responseMode: "response-only" }),
          ({ headers }) => ({ "if-match": headers["etag"] ?? "" })
        )
        const first = yield* tag
        const payload = { amount: 1 }
        assert.strictEqual((yield* accounts.deposit({ params, payload, headers: first })).balance, 1, role)
        const refused = [
          yield* Effect.flip(accounts.deposit({ params, payload, headers: first })),
          yield* Effect.flip(accounts.delete({ params, headers: first }))
        ]
        assert.deepStrictEqual(refused.map(({ _tag }) => _tag), ["PreconditionFailed", "PreconditionFailed"], role)
        yield* accounts.delete({ params, headers: yield* tag })
      }
    }))

  it.effect("are described, and what reads is not", () =>
    Effect.gen(function*() {
      const document = JSON.parse(JSON.stringify(OpenApi.make(engine, { title: "Bank", version: "1" })))
      const of = (path: string, method: string) => {
        const { parameters, responses } = document.paths[path][method]
        const names = parameters.flatMap(({ $ref, ...own }: { readonly $ref?: string }) => {
          const parameter = $ref === undefined ? own : document.components.parameters[$ref.split("/").at(-1) ?? ""]
          return parameter.in === "header" ? [parameter.name] : []
        })
        return [names, "412" in responses]
      }
      const conditional = [["If-Match", "If-None-Match"], true]
      assert.deepStrictEqual(of("/accounts/{id}/deposit", "post"), conditional)
      assert.deepStrictEqual(of("/accounts/{id}/revisions/{revision}/restore", "post"), conditional)
      assert.deepStrictEqual(of("/accounts/{id}/balance", "get"), [[], false])
    }))
})

describe("the answers of actions and restores", () => {
  it.effect("embed nothing, and refuse to", () =>
    Effect.gen(function*() {
      const { baseUrl, client } = yield* engine.test({ store })
      const { result } = yield* client.accounts.create({ payload: { owner: "ann", balance: 1 } })
      for (const action of ["deposit", "revisions/0/restore"]) {
        const answer = yield* sendTo(baseUrl, "POST", `/accounts/${result}/${action}?expand=owner`, { amount: 1 })
        assert.deepStrictEqual([answer.status, answer.body.errors[0].field], [400, "expand"])
      }
    }))
})
