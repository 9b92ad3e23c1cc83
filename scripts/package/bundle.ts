import { isBuiltin } from "node:module"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"

/** A program as a browser loads it. */
export interface Bundle {
  /** The minified program. */
  readonly code: string
  /** The bytes of the compressed program. */
  readonly bytes: number
  /** The modules of Node that it asks for, even where they are left out later, each with the module that does. */
  readonly builtins: ReadonlyArray<string>
}

/** Bundles a program for a browser. `alias` has the files of packages that are not where the program finds them. */
export const bundled = async (input: string, alias: { readonly [name: string]: string } = {}): Promise<Bundle> => {
  const builtins: Array<string> = []
  const bundle = await rolldown({
    input,
    platform: "browser",
    resolve: { alias },
    plugins: [{
      name: "builtins",
      resolveId: (source, importer) => {
        if (!isBuiltin(source)) return
        builtins.push(`${source}, imported by ${importer ?? "nobody"}`)
        return { id: source, external: true }
      }
    }]
  })
  const { output } = await bundle.generate({ minify: true, codeSplitting: false })
  const code = output.map((file) => file.type === "chunk" ? file.code : "").join("")
  return { code, bytes: gzipSync(code, { level: 9 }).length, builtins }
}
