import { availableParallelism } from "node:os"
import { join } from "node:path"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import StoreReporter from "./test/support/storeReporter.ts"
import { keepFilesInMemory } from "./test/support/temporaryFolder.ts"

// Workers and the programs that tests start load compiled code, not sources.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compiled")

keepFilesInMemory()

// They measure turns of the loop, what a program does in a time, or the heap, which takes seconds to collect where other files
// have left theirs: no file before them may leave anything in the process.
const measuring = [
  "test/internal/ownText.test.ts",
  "test/Repository/EmbeddedStoreLongWrites.test.ts",
  "packages/embedded-store/test/EmbeddedStoreLongScan.test.ts",
  "packages/embedded-store/test/EmbeddedStoreHostile.test.ts",
  "packages/embedded-store/test/HostilePipelines*.test.ts",
  "packages/embedded-store/test/storage/memory/shardedMap.test.ts"
]

// Those that take longest, by themselves or since they wait, begin first: none of them is the last one that runs.
const longest = [
  "test/Cli/commands/data.test.ts",
  "packages/explorer/test/Explorer.test.ts",
  "test/Http/openapi/GeneratedClientsOfOpenApiGenerator.test.ts",
  "packages/mongo-store/test/MongoStore.test.ts",
  "test/examples/shop.test.ts",
  "test/Http/openapi/OpenApiConformance.test.ts",
  "packages/explorer/test/Home.test.ts",
  "test/Http/openapi/GeneratedClients.test.ts",
  "test/Jobs/JobsAndKills.test.ts",
  "test/Http/mcp/mcpClients.test.ts",
  "packages/explorer/test/Hostile.test.ts",
  "packages/embedded-store/test/EmbeddedStore.test.ts",
  "packages/explorer/test/SignOut.test.ts",
  "test/Http/startup/Workers.test.ts",
  "test/Jobs/Webhooks.test.ts",
  "test/Files/stores/gridFs.test.ts",
  "test/Http/routes/RestKinds.test.ts",
  "test/Http/KernelServer.test.ts",
  "test/Http/FiveForms.test.ts",
  "test/Http/startup/documentation.test.ts",
  "packages/embedded-store/test/HostilePipelinesMemory.test.ts",
  "test/Repository/EmbeddedStoreLongWrites.test.ts",
  "packages/embedded-store/test/storage/memory/shardedMap.test.ts",
  "packages/embedded-store/test/HostilePipelinesFolder.test.ts"
].map((file) => join(import.meta.dirname, file))

const rankOf = ({ moduleId }: TestSpecification): number =>
  longest.includes(moduleId) ? longest.indexOf(moduleId) : longest.length

class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    // oxlint-disable-next-line unicorn/no-array-sort -- Vitest's own order, of no array
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}

// Node loads the modules itself, as it does in a service: in those that Vite's runner loads, each use of an import is a call.
// The package imports itself by its name: from its sources.
const loaded = {
  experimental: { viteModuleRunner: false, nodeLoader: false },
  execArgv: ["--conditions=source", "--import", join(import.meta.dirname, "test/support/sourceCondition.ts")]
}

// They end a test that hangs: on a busy machine with a slow disk, some take minutes.
const timeouts = { testTimeout: 600_000, hookTimeout: 600_000 }

export default defineConfig({
  test: {
    globalSetup: ["test/support/mongoGlobalSetup.ts", "test/support/programsGlobalSetup.ts"],
    reporters: ["default", new StoreReporter()],
    sequence: { sequencer: LongestFirst },
    projects: [
      // The files of a worker share what they load, which is compiled and warm for most of them. Many of them wait for
      // processes, sockets and a server, so there are two workers more than processors.
      {
        test: {
          ...loaded,
          ...timeouts,
          name: "tests",
          include: ["test/**/*.test.ts", "packages/*/test/**/*.test.ts"],
          exclude: measuring,
          isolate: false,
          maxWorkers: availableParallelism() + 2,
          sequence: { groupOrder: 0 }
        }
      },
      // With more workers than processors, the turns of the loop that they measure would be longer.
      {
        test: {
          ...loaded,
          ...timeouts,
          name: "measurements",
          include: measuring,
          maxWorkers: "100%",
          sequence: { groupOrder: 1 }
        }
      }
    ],
    coverage: { provider: "v8", include: ["src/**", "packages/*/src/**"], reporter: ["text-summary"] }
  }
})
