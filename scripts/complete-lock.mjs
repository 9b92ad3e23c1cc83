// Completes package-lock.json after an install, or checks it with `--check`.
//
// `npm ci` refuses a lock file that lacks any optional package, and `npm install` leaves out those that the registry at
// hand does not serve for other platforms. An address in the file would tie everybody to that registry.
import * as fs from "node:fs"

const file = "package-lock.json"
const check = process.argv.includes("--check")
const lock = JSON.parse(fs.readFileSync(file, "utf8"))

const platformOf = (name) => {
  const words = name.slice(name.lastIndexOf("/") + 1).split("-")
  const only = (key, known) => {
    const found = known.find((value) => words.includes(value))
    return found === undefined ? {} : { [key]: [found] }
  }
  const libc = words.some((word) => word.startsWith("musl"))
    ? { libc: ["musl"] }
    : words.some((word) => word === "gnu" || word === "gnueabihf")
    ? { libc: ["glibc"] }
    : {}
  return {
    ...only("cpu", ["arm64", "arm", "x64", "ia32", "ppc64", "riscv64", "s390x", "loong64", "mips64el"]),
    ...only("os", [
      "darwin",
      "linux",
      "win32",
      "android",
      "freebsd",
      "netbsd",
      "openbsd",
      "sunos",
      "aix",
      "openharmony"
    ]),
    ...libc
  }
}

// Where npm looks for a dependency of the package at `path`: beside it, then in each folder above.
const placesOf = (path, name) => {
  const above = path.split(/(?:^|\/)node_modules\//u).slice(1)
  return Array.from(
    { length: above.length + 1 },
    (_, depth) => [...above.slice(0, above.length - depth), name].map((part) => `node_modules/${part}`).join("/")
  )
}

const missing = {}
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    if (placesOf(path, name).some((place) => Object.hasOwn(lock.packages, place))) continue
    const version = range.replace(/^[\^~]/u, "")
    if (!/^\d+\.\d+\.\d+/u.test(version)) throw new Error(`${name}@${range} of ${path} names no version`)
    const facts = { ...platformOf(name), ...(entry.dev ? { dev: true } : {}), optional: true }
    // npm writes the version first and the rest by name
    const sorted = Object.entries(facts).toSorted(([one], [other]) => one.localeCompare(other, "en"))
    missing[`node_modules/${name}`] = { version, ...Object.fromEntries(sorted) }
  }
}
// A link to a package of this repository has its folder there.
const addressed = Object.keys(lock.packages).filter((path) =>
  Object.hasOwn(lock.packages[path], "resolved") && lock.packages[path].link !== true
)

if (check) {
  const problems = [
    ...Object.keys(missing).map((path) => `missing: ${path}`),
    ...addressed.map((path) => `has a registry address: ${path}`)
  ]
  for (const problem of problems) console.error(`${file} ${problem}`)
  console.log(problems.length > 0 ? "Run `npm run lock`" : `${file} is complete and names no registry`)
  process.exitCode = problems.length > 0 ? 1 : 0
} else {
  for (const path of addressed) delete lock.packages[path].resolved
  const entries = Object.entries({ ...lock.packages, ...missing })
  lock.packages = Object.fromEntries(entries.toSorted(([a], [b]) => a.localeCompare(b, "en")))
  fs.writeFileSync(file, `${JSON.stringify(lock, undefined, 2)}\n`)
  console.log(`${Object.keys(missing).length} packages added, ${addressed.length} addresses removed`)
}
