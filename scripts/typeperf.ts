/**
 * Measures what programs of users cost the type checker, with the declarations that `npm run build` has written: each
 * fixture typetest/perf/*.ts. Fails when one needs more than typetest/perf/budget.json allows. `--write` sets the maxima to
 * what was measured and a little room.
 *
 * Instantiations are counted, and the same on every machine. The time is not, so it is printed and has no maximum.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"

interface Cost {
  readonly instantiations: number
  readonly seconds: number
}

const folder = "typetest/perf"
const budgetFile = path.join(folder, "budget.json")
const cache = "node_modules/.cache/typeperf"

const measure = (fixture: string): Cost => {
  const within = (file: string) => path.relative(cache, file).replaceAll(path.sep, "/")
  const project = path.join(cache, `${fixture}.json`)
  const compilerOptions = { noUnusedLocals: false, customConditions: [] }
  const files = [within(path.join(folder, fixture))]
  fs.writeFileSync(project, JSON.stringify({ extends: within("tsconfig.json"), compilerOptions, files, include: [] }))
  const { status, stdout } = spawnSync(
    process.execPath,
    ["node_modules/typescript/bin/tsc", "-p", project, "--singleThreaded", "--extendedDiagnostics"],
    { encoding: "utf8" }
  )
  if (status !== 0) {
    console.error(stdout)
    process.exit(1)
  }
  const read = (label: string) => Number(new RegExp(`^${label}:\\s+([\\d.]+)`, "mu").exec(stdout)?.[1])
  return { instantiations: read("Instantiations"), seconds: read("Check time") }
}

fs.mkdirSync(cache, { recursive: true })
// Maxima are those of the sources as they are.
if (
  process.argv.includes("--write") &&
  spawnSync(process.execPath, ["scripts/build.ts"], { stdio: "inherit" }).status !== 0
) {
  process.exit(1)
}
const fixtures = fs.globSync("*.ts", { cwd: folder }).toSorted()
const costs = new Map(fixtures.map((fixture) => [fixture, measure(fixture)]))

if (process.argv.includes("--write")) {
  const maxima = [...costs].map(([fixture, { instantiations }]) => [
    fixture,
    { instantiations: Math.ceil(instantiations * 1.05 / 100) * 100 }
  ])
  fs.writeFileSync(budgetFile, `${JSON.stringify(Object.fromEntries(maxima), undefined, 2)}\n`)
}

const budget = JSON.parse(fs.readFileSync(budgetFile, "utf8")) as Readonly<Record<string, Pick<Cost, "instantiations">>>
const problems = Object.keys(budget)
  .filter((fixture) => !costs.has(fixture))
  .map((fixture) => `${fixture} has a budget, but is gone`)
for (const [fixture, { instantiations, seconds }] of costs) {
  const allowed = budget[fixture]
  const limit = allowed === undefined ? "" : ` (at most ${allowed.instantiations})`
  console.log(`${fixture}: ${instantiations} instantiations${limit}, ${seconds.toFixed(2)} s`)
  // what can't be read from the compiler's report is not a number, and so not within any budget
  const isWithin = allowed !== undefined && instantiations <= allowed.instantiations
  if (!isWithin) problems.push(`${fixture} ${allowed === undefined ? "has no budget" : "is over its budget"}`)
}
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0
