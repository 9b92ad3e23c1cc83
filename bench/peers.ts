/**
 * What servers need that are not the project's: packages of their own, and a MongoDB.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { findServer } from "../test/support/mongoGlobalSetup.ts"
import type { Variables } from "./processes.ts"

const folder = path.join(import.meta.dirname, "peers")

/** Installs the packages of `peers` once, if one of the servers is there. None of their scripts runs. */
export const installPeers = (servers: ReadonlyArray<string>): void => {
  const manifest = path.join(folder, "package.json")
  const { dependencies } = JSON.parse(fs.readFileSync(manifest, "utf8")) as { readonly dependencies: object }
  const isInstalled = Object.keys(dependencies).every((name) => fs.existsSync(path.join(folder, "node_modules", name)))
  if (isInstalled || !servers.some((server) => server.startsWith("peers/"))) return
  console.error("Installing the peers, once")
  const args = ["install", "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund"]
  const { status } = spawnSync("npm", args, { cwd: folder, stdio: "inherit" })
  if (status !== 0) throw new Error("The peers can't be installed")
}

/** The variables that tell servers where a MongoDB is. */
export interface Mongo extends AsyncDisposable {
  readonly variables: Variables
}

/** Finds or starts a MongoDB as the tests do, if one of the servers needs it. */
export const startMongo = async (isNeeded: boolean): Promise<Mongo> => {
  if (!isNeeded) return { variables: {}, [Symbol.asyncDispose]: async () => {} }
  const found = await findServer()
  if ("reason" in found) throw new Error(found.reason)
  return { variables: { MONGO_URL: found.url }, [Symbol.asyncDispose]: found.stop }
}
