/** The check for a supported Node version, before a missing feature of an older one fails with an obscure error. */
import process from "node:process"

/** The oldest Node that the package runs on, as in `engines` of its `package.json`. */
const oldest = [22, 19] as const

/** Ends the process with one line and code 1 on an older Node, which lacks `import.meta.main`, for example. */
export const requireNode = (): void => {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  if (major > oldest[0] || major === oldest[0] && minor >= oldest[1]) return
  process.stderr.write(`AppKernel needs Node ${oldest.join(".")} or newer, and this is ${process.versions.node}\n`)
  process.exit(1)
}
