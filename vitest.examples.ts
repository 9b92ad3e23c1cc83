import { defineConfig } from "vitest/config"
import { keepFilesInMemory } from "./test/support/temporaryFolder.ts"

keepFilesInMemory()

export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    include: [".examples/**/run.test.ts"],
    exclude: [],
    // Each loads the package: once for a worker, not once for an example.
    isolate: false,
    maxWorkers: "100%",
    testTimeout: 600_000
  }
})
