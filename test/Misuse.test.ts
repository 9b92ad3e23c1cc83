import { expect, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"

it("misuse is rejected with a message that names it", { timeout: 300_000 }, async () => {
  const compiler = ["node_modules/typescript/bin/tsc", "-p", "typetest/misuse", "--pretty", "false"]
  const { stdout } = spawnSync(process.execPath, compiler, { encoding: "utf8" })
  await expect(stdout.replaceAll("typetest/misuse/", "")).toMatchFileSnapshot("../typetest/misuse/expected.txt")
})
