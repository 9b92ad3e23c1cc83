/** A folder for the programs that tests start, which is removed after the run. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import type { TestProject } from "vitest/node"

export default (project: TestProject) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "appkernel-programs-"))
  project.provide("programs", folder)
  return () => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
