import { defineConfig } from "oxlint"
import { importRules } from "./scripts/importRules.ts"

export default defineConfig({
  plugins: ["typescript", "import", "oxc", "unicorn", "node", "vitest", "promise"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  options: { reportUnusedDisableDirectives: "error" },
  ignorePatterns: ["dist", ".examples", "templates"],
  rules: {
    // As the compiler refuses in an editor.
    "eslint/no-unused-vars": [
      "error",
      { args: "all", argsIgnorePattern: "^_", varsIgnorePattern: "^_", destructuredArrayIgnorePattern: "^_" }
    ],
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "typescript/consistent-type-imports": "error",
    "typescript/no-deprecated": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-floating-promises": "error",

    // A generator that only returns is how an effect without steps is written in a method's implementation.
    "eslint/require-yield": "off",
    // `_tag`, `_id` and `_type` are names that others chose.
    "eslint/no-underscore-dangle": "off",
    // `it.layer(…)("…", (it) => …)` shadows on purpose: the outer `it` has no services.
    "eslint/no-shadow": "off",
    // The compiler's noImplicitReturns says the same, and knows exhaustive switches.
    "typescript/consistent-return": "off",
    // `$cond` and `$switch` of MongoDB and `if`/`then`/`else` of JSON Schema have a key called `then`.
    "unicorn/no-thenable": "off",
    // Takes `Effect.catch` for `Promise.catch`.
    "promise/valid-params": "off",
    // Documents are immutable: a changed copy of each is what the code means.
    "oxc/no-map-spread": "off",
    // Looks at the constraint of a type parameter, not at what it is instantiated with.
    "typescript/no-generated-empty-object-type": "off",
    // Effect's errors are iterable so that they can be yielded; spreading one means its fields.
    "typescript/no-misused-spread": "off",
    // Contract suites get their names from whoever runs them.
    "vitest/valid-title": ["error", { ignoreTypeOfDescribeName: true, ignoreTypeOfTestName: true }],
    // A narrowing cast has its reason in the line above; this rule would want a second comment for the same.
    "typescript/no-unsafe-type-assertion": "off",
    // `Redacted<string>` says more than `Redacted`.
    "typescript/no-unnecessary-type-arguments": "off",
    // An array of known length is allocated once on hot paths.
    "unicorn/no-new-array": "off",
    // For windows; a worker's `postMessage` has no target origin.
    "unicorn/require-post-message-target-origin": "off",
    // Enabling the schema compiler is a module without exports; so is a style sheet.
    "import/no-unassigned-import": ["error", { allow: ["effect/schema/**", "**/*.css"] }]
  },
  overrides: [
    // The directions of scripts/rooms.ts.
    ...importRules(),
    {
      files: ["test/**", "packages/*/test/**", "typetest/**", "examples/**", "bench/**", "scripts/**"],
      rules: {
        // A helper stands beside the one test or program that uses it.
        "unicorn/consistent-function-scoping": "off",
        // Steps that follow one another are the point here; src has no `await` at all.
        "eslint/no-await-in-loop": "off"
      }
    },
    {
      files: ["packages/explorer/src/**"],
      plugins: ["typescript", "import", "oxc", "unicorn", "promise", "react", "jsx-a11y"],
      rules: {
        // The compiler brings React into each module.
        "react/react-in-jsx-scope": "off",
        // react-admin's components take what they don't know and give it to the element below.
        "react/jsx-props-no-spreading": "off",
        // Components that are used by one other stand in its file.
        "react/no-multi-comp": "off",
        // Dialogs and cells set the focus where somebody goes on.
        "jsx-a11y/no-autofocus": "off"
      }
    },
    {
      // Services as they are written with other frameworks: Express 5 awaits handlers, and the classes of NestJS have decorators.
      files: ["bench/peers/**"],
      rules: {
        "oxc/no-async-endpoint-handlers": "off",
        "import/no-unassigned-import": "off",
        "typescript/no-extraneous-class": "off"
      }
    },
    {
      // Rooms that are laid and not furnished yet.
      files: ["src/Client/index.ts", "src/Security/index.ts"],
      rules: { "unicorn/no-empty-file": "off" }
    },
    {
      files: ["test/support/**"],
      rules: {
        // Suites for a server are declared, skipped, or handed on as they are, depending on whether there is one.
        "vitest/expect-expect": "off",
        "vitest/no-conditional-tests": "off",
        "vitest/no-disabled-tests": "off",
        "vitest/valid-describe-callback": "off"
      }
    }
  ]
})
