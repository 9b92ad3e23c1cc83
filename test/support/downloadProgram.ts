/** Downloads the file at `URL` to `FOLDER` twice, and prints how each ended, and what the folder has then. */
import { Effect, Result } from "effect"
import * as fs from "node:fs"
import * as HttpClientFactory from "../../src/Client/HttpClientFactory.ts"

const { FOLDER: folder = "", URL: url = "" } = process.env

const program = Effect.gen(function*() {
  const proxy = yield* HttpClientFactory.get(url)
  for (const name of ["large", "small"]) {
    const result = yield* Effect.result(proxy.wrap(name).downloadTo(folder))
    console.log(Result.isSuccess(result) ? result.success : `${String(result.failure)} ${String(result.failure.cause)}`)
    console.log(fs.readdirSync(folder).join())
  }
})

await Effect.runPromise(Effect.provide(program, HttpClientFactory.layer))
