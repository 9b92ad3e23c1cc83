/** Puts beside the compiled files what they serve, so that the package works without what it was taken from. */
import * as fs from "node:fs"
import * as path from "node:path"
import { builtExplorer } from "./explorer.ts"

const from = "node_modules/redoc"
const to = "dist/Http/assets"

fs.mkdirSync(to, { recursive: true })
for (const file of ["redoc.standalone.js", "redoc.standalone.js.LICENSE.txt"]) {
  fs.copyFileSync(path.join(from, "bundles", file), path.join(to, file))
}
fs.copyFileSync(path.join(from, "LICENSE"), path.join(to, "redoc.LICENSE.txt"))

const explorer = await builtExplorer()
const { files } = JSON.parse(fs.readFileSync(path.join(explorer, "manifest.json"), "utf8")) as {
  readonly files: ReadonlyArray<string>
}
for (const file of ["manifest.json", "licenses.txt", ...files]) {
  const copy = path.join(to, "explorer", file)
  fs.mkdirSync(path.dirname(copy), { recursive: true })
  fs.copyFileSync(path.join(explorer, file), copy)
}
