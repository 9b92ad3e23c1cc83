/** The jobs of BullMQ, on Redis (`BENCH_REDIS`, its port). */
import { Queue, Worker } from "bullmq"
import { concurrency, takePart } from "../jobs/contestant.ts"

const connection = { port: Number(process.env["BENCH_REDIS"]), maxRetriesPerRequest: null }

await takePart(async (work) => {
  const queue = new Queue("work", { connection })
  const worker = new Worker("work", async ({ data }) => work(data.at), { connection, concurrency })
  await worker.waitUntilReady()
  return (at) => queue.add("work", { at })
})
