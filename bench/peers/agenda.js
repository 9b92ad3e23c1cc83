/** The jobs of Agenda, on MongoDB (`MONGO_URL`). It looks for the jobs of other processes as often as ours do, each second. */
import { MongoBackend } from "@agendajs/mongo-backend"
import { Agenda } from "agenda"
import { MongoClient } from "mongodb"
import { concurrency, takePart } from "../jobs/contestant.ts"

const client = await MongoClient.connect(process.env["MONGO_URL"])

await takePart(async (work) => {
  const agenda = new Agenda({
    backend: new MongoBackend({ mongo: client.db("agenda-bench-jobs") }),
    processEvery: 1000,
    maxConcurrency: concurrency,
    defaultConcurrency: concurrency
  })
  agenda.define("work", async ({ attrs }) => work(attrs.data.at))
  await agenda.start()
  return (at) => agenda.now("work", { at })
})
