import { assert, describe, it } from "@effect/vitest"
import * as fs from "node:fs"
import * as path from "node:path"
import { accumulators } from "../packages/mql/src/aggregation/accumulators.ts"
import { stageParsers } from "../packages/mql/src/aggregation/pipeline.ts"
import { operators } from "../packages/mql/src/expression/parseExpression.ts"
import { fieldOperators } from "../packages/mql/src/filter/fieldOperators.ts"
import { documentStages } from "../packages/mql/src/projection/documentStages.ts"
import { readers } from "../packages/mql/src/update/parseUpdate.ts"
import { functionParsers } from "../packages/mql/src/window/parseWindowFunction.ts"
import { withKeys, withMessages } from "../scripts/reference.ts"
import { overridableParameters, pageParameters } from "../src/Http/description/queryParameters.ts"
import { standardEndpoints } from "../src/Http/description/standardEndpoints.ts"
import { statusOf } from "../src/Http/HttpError.ts"
import { expressions } from "../src/Http/query/expressionGuard.ts"
import { stageNames } from "../src/Http/query/pipelineGuard.ts"
import { exposed, readableHeaders } from "../src/Http/routes/cors.ts"
import { accessLineOf } from "../src/Http/server/kernelLogger.ts"
import { KernelEngine, Model } from "../src/index.ts"

const root = path.join(import.meta.dirname, "..")

const textOf = (file: string): string => fs.readFileSync(path.join(root, file), "utf8")

/** The part of a page below a heading, up to the next one of the same or a higher level. */
const sectionOf = (page: string, heading: string): string => {
  const lines = textOf(`docs/reference/${page}.md`).split("\n")
  const from = lines.indexOf(heading)
  assert.isAtLeast(from, 0, `${page} has no ${heading}`)
  const level = heading.indexOf(" ")
  const length = lines.slice(from + 1).findIndex((line) => /^#+ /u.test(line) && line.indexOf(" ") <= level)
  return lines.slice(from + 1, length === -1 ? undefined : from + 1 + length).join("\n")
}

/** The cells of all rows that begin with code. */
const rowsOf = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  text.split("\n").filter((line) => line.startsWith("| `")).map((line) => line.slice(2, -2).split(" | "))

describe("Pages that lead to others", () => {
  it("The README leads to every guide", () => {
    for (const file of fs.readdirSync(path.join(root, "docs/guides"))) {
      assert.include(textOf("README.md"), `(docs/guides/${file})`)
    }
  })

  it("The front page and the page on changes lead to live lists", () => {
    for (const page of ["docs/index.md", "docs/guides/changes.md"]) {
      assert.match(textOf(page), /\((?:guides\/)?live\.md\)/u)
    }
  })

  it("The comparison denies nothing that is there, and promises nothing that is not", () => {
    const engine = KernelEngine.make("compared")
    const isThere = {
      OpenAPI: "enableOpenApi" in engine,
      "access rules by document and by field": "enableSecurity" in engine,
      "live updates to clients": "changes" in standardEndpoints,
      "admin page": "enableExplorer" in engine
    }
    const page = textOf("docs/compare.md")
    const own = new Map(
      page.split("\n").filter((line) => line.startsWith("| ")).map((line) => {
        const [feature = "", appkernel = ""] = line.slice(2, -2).split(" | ")
        return [feature, appkernel] as const
      })
    )
    for (const [feature, there] of Object.entries(isThere)) {
      assert.strictEqual(!/^(?:no|not yet)$/u.test(own.get(feature) ?? "no"), there, feature)
    }
    const [, lacking = ""] = page.split("## What AppKernel lacks")
    const isMissing = {
      "admin page": !("enableExplorer" in engine),
      "File storage as a field": !("file" in Model),
      "Mails and webhooks": !("enableWebhooks" in engine),
      "jobs and schedules": !("enableCron" in engine)
    }
    for (const [feature, missing] of Object.entries(isMissing)) {
      assert.strictEqual(lacking.includes(feature), missing, feature)
    }
  })
})

describe("The reference", () => {
  it("has the rows of the keys as the code has them: `npm run reference` writes them", () => {
    const page = textOf("docs/reference/configuration.md")
    assert.strictEqual(withKeys(page), page)
    const messages = textOf("docs/reference/messages.md")
    assert.include(messages, "| `errors.KeyReused` |")
    assert.strictEqual(withMessages(messages), messages)
  })

  it("has every operator and stage that the embedded store evaluates, and that a URL may have", () => {
    const casesOf = (file: string) => [...textOf(file).matchAll(/case "(\$\w+)"/gu)].map(([, name]) => name)
    const inFilters = casesOf("packages/mql/src/filter/filterParser.ts")
    const lists: ReadonlyArray<readonly [heading: string, names: ReadonlyArray<string | undefined>]> = [
      ["## Filters", [...fieldOperators.keys(), ...inFilters, "$text"]],
      ["## Updates", [...readers.keys()]],
      [
        "## Stages",
        [...stageParsers.keys(), ...documentStages.keys(), "$sort", "$geoNear", "$documents", "$out", "$merge"]
      ],
      ["## Accumulators", [...accumulators.keys()]],
      ["## Window functions", [...functionParsers.keys()]],
      ["## Expressions", [...operators.keys()]],
      ["### Filters of `query`", casesOf("src/Http/query/filterGuard.ts")],
      ["### Stages of `pipe`", stageNames],
      ["### Expressions of callers", [...expressions]]
    ]
    for (const [heading, names] of lists) {
      const list = sectionOf("operators", heading).split("\n\n").map((paragraph) => paragraph.trim())
        .find((paragraph) => /^(?:`\$\w+`(?:,\s|$))+$/u.test(paragraph))
      const listed = list?.split(/,\s/u).map((name) => name.slice(1, -1))
      assert.sameMembers(listed ?? [], [...new Set(names)], heading)
    }
  })

  it("has the flags and arguments of every command", () => {
    const main = textOf("src/Cli/commands/appkernel.ts")
    const commands = [...main.matchAll(/^import .* from "\.\/(\w+)\.ts"$/gmu)].map(([, name = ""]) => name)
      .filter((name) => name !== "output")
    const shared = { engineModule: ["module"], jsonFlag: ["json"], outFlag: ["out"], checkFlag: ["check"] }
    for (const command of commands) {
      const source = textOf(`src/Cli/commands/${command}.ts`)
      const section = sectionOf("cli", `## ${command}`)
      const named = (pattern: RegExp, text: string) => [...text.matchAll(pattern)].map(([, name]) => name)
      const sharedIn = (suffix: string) =>
        Object.entries(shared).flatMap(([name, words]) =>
          name.endsWith(suffix) && new RegExp(`: ${name}\\b`, "u").test(source) ? words : []
        )
      assert.sameMembers(
        named(/^\| `--([\w-]+)`/gmu, section),
        [...named(/(?:Flag\.(?!with)\w+|switchFlag|numberFlag)\(\s*"([\w-]+)"/gu, source), ...sharedIn("Flag")],
        command
      )
      assert.deepStrictEqual(
        named(/^The argument `(\w+)`/gmu, section),
        [...named(/Argument\.(?!with)\w+\("(\w+)"/gu, source), ...sharedIn("Module")],
        command
      )
    }
    assert.strictEqual(/withSubcommands\(\[([^\]]+)\]/u.exec(main)?.[1]?.split(",").length, commands.length)
  })

  it("has every status with its error, and the headers that browsers may send and read", () => {
    assert.sameDeepMembers(
      rowsOf(sectionOf("http", "## Statuses")).map(([status, error]) => [status ?? "", error ?? ""]),
      Object.entries({ NotModified: 304, ...statusOf }).map(([error, status]) => [`\`${status}\``, `\`${error}\``])
    )
    assert.deepStrictEqual(
      [...textOf("docs/reference/errors.md").matchAll(/^## (\w+)\n\n(\d{3})\./gmu)].map((
        [, error, status]
      ) => [error, status]),
      Object.entries(statusOf).map(([error, status]) => [error, String(status)])
    )
    const headersOf = (heading: string) =>
      rowsOf(sectionOf("http", heading)).flatMap(([names = ""]) => names.split(", ").map((name) => name.slice(1, -1)))
    assert.includeMembers(headersOf("## Request headers"), readableHeaders)
    assert.includeMembers(headersOf("## Response headers"), exposed)
  })

  it("has the parameters of collections", () => {
    assert.sameMembers(
      rowsOf(sectionOf("query-language", "## Parameters")).flatMap(([name = ""]) => /^`[A-Z]/u.test(name) ? [] : name),
      Object.keys({ ...pageParameters(), ...overridableParameters }).map((name) => `\`${name}\``)
    )
  })

  it("has every metric, and every field of a request's line in the log", () => {
    const metrics = [
      "packages/document-store/src/shared/instrumented",
      "packages/mongo-store/src/driver/connection",
      "Client/CircuitBreaker",
      "Http/monitoring/processMetrics",
      "Http/monitoring/requestMetrics",
      "Http/server/overload",
      "Http/routes/rateLimits",
      "Http/routes/authentication",
      "Http/Tokens",
      "Http/webhooks/delivering",
      "Jobs/running/measures",
      "Jobs/running/workers"
    ]
      .flatMap((
        module
      ) => [
        ...textOf(module.startsWith("packages/") ? `${module}.ts` : `src/${module}.ts`).matchAll(
          /(?:\b(?:counter|histogram|gauge|size)|gaugeOf)\(\s*"([^"]+)"/gu
        )
      ])
      .map(([, name]) => `\`${name}\``)
    assert.sameMembers(rowsOf(sectionOf("metrics", "## Metrics of the framework")).map(([name = ""]) => name), [
      ...new Set(metrics)
    ])
    const line: unknown = JSON.parse(accessLineOf({
      address: "::1",
      duration: 1,
      method: "GET",
      requestId: "r",
      route: "/",
      status: 200,
      subject: "U1",
      time: 0
    }, 1))
    assert.sameMembers(
      rowsOf(sectionOf("logging", "## Lines of requests")).map(([name = ""]) => name),
      Object.keys(Object(line)).map((name) => `\`${name}\``)
    )
  })
})
