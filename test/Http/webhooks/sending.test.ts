/** Signatures, as the packages of others make and verify them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { Webhook } from "standardwebhooks"
import { makeSending } from "../../../src/Http/webhooks/sending.ts"
import { pip } from "../../support/clientTools.ts"
import { receiver } from "../../support/receiver.ts"

/** Of several lengths, with what Base64 has besides letters. */
const secrets = [24, 31, 32, 64].map((length) => `whsec_${Buffer.alloc(length, 0xfb).toString("base64")}`)

const bodies = ["{}", `{"text":"Zürich — 東京 \u{1F600}","quote":"\\"\\\\"}`]

const python = `
import json, sys
from standardwebhooks import Webhook
for one in json.load(sys.stdin):
    Webhook(one["secret"]).verify(one["body"], one["headers"])
    print(one["body"])
`

describe("What is sent", () => {
  it.live(
    "is verified by the packages of npm and PyPI, with either secret, and not when it was changed",
    ({ skip }) =>
      Effect.gen(function*() {
        const { received, url } = yield* receiver()
        const send = yield* makeSending({ insecure: true, networks: ["127.0.0.0/8"] })
        const other = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
        const sent = []
        for (const [i, secret] of secrets.entries()) {
          for (const body of bodies) {
            yield* send({ url, id: `E${i}`, body, secrets: [secret, other] })
            const headers = Object.fromEntries(
              Object.entries(received.at(-1)!.headers).filter(([name]) => name.startsWith("webhook-"))
            ) as Record<string, string>
            assert.strictEqual(received.at(-1)!.body, body)
            for (const known of [secret, other]) {
              assert.deepStrictEqual(new Webhook(known).verify(body, headers), JSON.parse(body))
              assert.throws(() => new Webhook(known).verify(`${body} `, headers))
              sent.push({ secret: known, body, headers })
            }
          }
        }
        const tool = yield* Effect.promise(pip("standardwebhooks", "standardwebhooks==1.1.0"))
        if ("reason" in tool) return skip(tool.reason)
        const program = [join(tool.folder, "bin", "python"), "-c", python] as const
        const { stderr, stdout } = spawnSync(program[0], program.slice(1), {
          input: JSON.stringify(sent),
          encoding: "utf8"
        })
        assert.deepStrictEqual([stdout.trim().split("\n"), stderr], [sent.map(({ body }) => body), ""])
        const changed = [{ ...sent[0], body: "{ }" }]
        const refused = spawnSync(program[0], program.slice(1), { input: JSON.stringify(changed), encoding: "utf8" })
        assert.include(refused.stderr, "WebhookVerificationError")
      }),
    600_000
  )
})
