import { defineConfig } from "vitest/config"
import StoreReporter from "./test/support/storeReporter.ts"

export default defineConfig({
  // The package imports itself by its name: from its sources.
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/mongoGlobalSetup.ts"],
    reporters: ["default", new StoreReporter()],
    // One more than the default, which leaves a processor to the main thread.
    maxWorkers: "100%",
    testTimeout: 30_000,
    hookTimeout: 30_000,
    coverage: { provider: "v8", include: ["src/**"], reporter: ["text-summary"] }
  }
})
