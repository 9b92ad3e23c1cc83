// Reports the files that are not in the house style; with `--write`, puts them into it. Paths narrow it to those files.
import { createFromBuffer } from "@dprint/formatter"
import * as fs from "node:fs"
import { createRequire } from "node:module"

const plugin = createRequire(import.meta.url).resolve("@dprint/typescript/plugin.wasm")
const formatter = createFromBuffer(fs.readFileSync(plugin))
formatter.setConfig({ indentWidth: 2, lineWidth: 120, newLineKind: "lf" }, {
  semiColons: "asi",
  quoteStyle: "alwaysDouble",
  trailingCommas: "never",
  operatorPosition: "maintain",
  "arrowFunction.useParentheses": "force"
})

const words = process.argv.slice(2)
const write = words.includes("--write")
const paths = words.filter((word) => word !== "--write")
const files = paths.length > 0
  ? paths
  : fs.globSync([
    "{src,packages/*/src,packages/*/test,test,typetest,examples,bench,scripts,templates}/**/*.{ts,tsx,mjs}",
    "docs/.vitepress/{*,theme/*}.ts",
    "*.ts"
  ], { exclude: ["**/node_modules/**"] })
const changed = files.filter((filePath) => {
  const fileText = fs.readFileSync(filePath, "utf8")
  const formatted = formatter.formatText({ filePath, fileText })
  if (formatted === fileText) return false
  if (write) fs.writeFileSync(filePath, formatted)
  return true
})
for (const file of changed) console.log(`${write ? "formatted" : "not formatted"}: ${file}`)
process.exitCode = changed.length > 0 && !write ? 1 : 0
