/** A server that closes. */
import { assert, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { once } from "node:events"
import { performance } from "node:perf_hooks"
import { makeServer } from "../../../src/Http/server/nodeServer.ts"

const turns = () => performance.nodeTiming.uvMetricsInfo.loopCount

it.live("A server that closes waits for further connections without taking the processor", () =>
  Effect.promise(async () => {
    const server = makeServer({ requestTimeout: Duration.seconds(10), shutdownTimeout: Duration.seconds(20) })
    await once(server.listen(0, "127.0.0.1"), "listening")
    const before = turns()
    await once(server.close(), "close")
    assert.isBelow(turns() - before, 300)
  }))
