import { assert, expect, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"

const folder = "typetest/misuse"

/** What the compiler prints for the programs of the folder. */
const printed = (): string => {
  const compiler = ["node_modules/typescript/bin/tsc", "-p", folder, "--pretty", "false", "--checkers", "1"]
  return spawnSync(process.execPath, compiler, { encoding: "utf8" }).stdout.replaceAll(`${folder}/`, "")
}

/** The first diagnostic of a program, line by line. */
const firstDiagnosticOf = (output: string, file: string): ReadonlyArray<string> => {
  const lines = output.split("\n")
  const start = lines.findIndex((line) => line.startsWith(`${file}(`))
  const length = lines.slice(start + 1).findIndex((line) => !line.startsWith(" "))
  return start === -1 ? [] : lines.slice(start, start + 1 + length)
}

it("misuse is rejected with a message whose first or last line names its cause", { timeout: 300_000 }, async () => {
  const output = printed()
  await expect(output).toMatchFileSnapshot(`../${folder}/expected.txt`)
  for (const file of fs.readdirSync(folder)) {
    const [, cause] = /^\/\*\* The cause is `(.+?)`/u.exec(fs.readFileSync(path.join(folder, file), "utf8")) ?? []
    if (cause === undefined) continue
    const lines = firstDiagnosticOf(output, file)
    assert.isAbove(lines.length, 0, `${file} compiles`)
    assert.isTrue([lines[0], lines.at(-1)].some((line) => line?.includes(cause)), `${file}: ${lines.join("\n")}`)
  }
})
