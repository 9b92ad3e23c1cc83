import { defineConfig } from "vitest/config"

export default defineConfig({
  test: { typecheck: { include: ["typetest/**/*.test-d.ts"], tsconfig: "tsconfig.json" } }
})
