/** Removes the declarations that no exported module needs, so that the package has those that its users' compilers read. */
import * as fs from "node:fs"
import * as path from "node:path"

const manifest = JSON.parse(fs.readFileSync("package.json", "utf8")) as {
  readonly exports: { readonly [entry: string]: string | { readonly types: string } }
}
const needed = new Set(
  Object.values(manifest.exports).flatMap((entry) => typeof entry === "string" ? [] : [path.normalize(entry.types)])
)
for (const file of needed) {
  for (const [, imported] of fs.readFileSync(file, "utf8").matchAll(/(?:from|import)[ (]"(\.[^"]+)"/gu)) {
    const declarations = path.join(path.dirname(file), imported!.replace(/\.[jt]s$/u, ".d.ts"))
    if (fs.existsSync(declarations)) needed.add(declarations)
  }
}
for (const file of fs.globSync("dist/**/*.d.ts")) {
  if (!needed.has(file)) { for (const unused of [file, `${file}.map`]) fs.rmSync(unused) }
}
console.log(`${needed.size} declarations in dist`)
