/** A server with the API of S3 for tests: moto, which is installed once, under `node_modules/.cache`. */
import { spawn } from "node:child_process"
import * as path from "node:path"
import { installed, pythonPackages } from "./installed.ts"

const version = "5.2.5"

export const installMoto = () =>
  installed(`moto-${version}`, (folder) => pythonPackages(folder, `moto[s3,server]==${version}`))

/** The address of a server that has been started, or why there is none. */
export const startS3 = async (): Promise<
  { readonly url: string; readonly stop: () => Promise<void> } | { readonly reason: string }
> => {
  const tool = await installMoto()
  if ("reason" in tool) {
    if (process.env["CI"]) throw new Error(`The tests with S3 must run where CI is set: ${tool.reason}`)
    return tool
  }
  const server = spawn(path.join(tool.folder, "bin", "moto_server"), ["-H", "127.0.0.1", "-p", "0"], {
    stdio: ["ignore", "ignore", "pipe"]
  })
  const ended = new Promise<void>((resolve) => server.once("close", () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    let output = ""
    server.stderr.setEncoding("utf8").on("data", (text: string) => {
      output += text
      const [, found] = /Running on (http:\S+)/u.exec(output) ?? []
      if (found !== undefined) resolve(found)
    })
    server.once("close", () => reject(new Error(`The server ended: ${output}`)))
  })
  return {
    url,
    stop: () => {
      server.kill("SIGKILL")
      return ended
    }
  }
}
