/**
 * Asks on a new connection each time whether a service lives, in a thread of its own: the load does not delay it.
 */
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { parentPort, workerData } from "node:worker_threads"

/** The milliseconds until the answer. */
const probe = (port: number): Promise<number> => {
  const { promise, reject, resolve } = Promise.withResolvers<number>()
  const begin = performance.now()
  const socket = connect({ port, host: "127.0.0.1", noDelay: true })
  socket.on("error", reject)
  socket.on("data", (chunk: Buffer) => {
    if (!chunk.toString("latin1").startsWith("HTTP/1.1 200")) reject(new Error(chunk.toString("latin1")))
    resolve(performance.now() - begin)
    socket.destroy()
  })
  socket.write("GET /health/live HTTP/1.1\r\nHost: bench\r\n\r\n")
  return promise
}

for (;;) {
  // One that fails counts as endless.
  parentPort?.postMessage(await probe(Number(workerData)).catch(() => Infinity))
  await sleep(100)
}
