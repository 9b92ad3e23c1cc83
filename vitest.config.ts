import { join } from "node:path"
import { defineConfig } from "vitest/config"
import StoreReporter from "./test/support/storeReporter.ts"

// Workers and the programs that tests start load compiled code, not sources.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compiled")

export default defineConfig({
  // The package imports itself by its name: from its sources.
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/mongoGlobalSetup.ts"],
    reporters: ["default", new StoreReporter()],
    // One more than the default, which leaves a processor to the main thread. With more, tests that measure turns get longer ones.
    maxWorkers: "100%",
    testTimeout: 30_000,
    hookTimeout: 30_000,
    coverage: { provider: "v8", include: ["src/**"], reporter: ["text-summary"] }
  }
})
