/** Short schemas with the traits of those that configuration files have: of all drafts, with references, unions, and odd names. */
import type { JsonSchema } from "./schemaModels.ts"

const text = { type: "string" } as const

export const schemas: { readonly [name: string]: JsonSchema } = {
  Manifest: {
    properties: {
      $schema: { type: "string", format: "uri" },
      version: { type: "string", pattern: "^\\d+(\\.\\d+)*$", description: "Of this file" },
      "content-scripts": {
        type: "array",
        items: { type: "object", properties: { matches: { type: "array", items: text } } }
      },
      incognito: { enum: ["spanning", "split"], default: "spanning" }
    },
    required: ["version"]
  },
  Package: {
    definitions: {
      person: { type: ["object", "string"], properties: { name: text } },
      deps: { additionalProperties: text, type: "object" }
    },
    properties: {
      name: { type: "string", maxLength: 214, minLength: 1 },
      private: { anyOf: [{ type: "boolean" }, { enum: ["false", "true"] }] },
      author: { $ref: "#/definitions/person" },
      dependencies: { $ref: "#/definitions/deps" },
      devDependencies: { $ref: "#/definitions/deps" },
      "peer.dependencies": { $ref: "#/definitions/deps" },
      files: { type: "array", items: text }
    }
  },
  Compiler: {
    allOf: [
      { $ref: "#/definitions/files" },
      {
        properties: {
          options: {
            type: "object",
            properties: {
              target: { anyOf: [{ enum: ["es5"] }, { const: "es6" }] },
              strict: { type: ["boolean", "null"] }
            }
          }
        }
      }
    ],
    definitions: { files: { properties: { files: { type: ["array", "null"], items: text, uniqueItems: true } } } }
  },
  Workflow: {
    properties: {
      on: { oneOf: [text, { type: "array", items: text }, { type: "object" }] },
      jobs: { type: "object", patternProperties: { "^[a-z]": { type: "object" } }, additionalProperties: false },
      concurrency: { oneOf: [{ type: "string" }, { $ref: "#/$defs/concurrency" }] }
    },
    $defs: { concurrency: { type: "object", properties: { group: text, "cancel-in-progress": { type: "boolean" } } } },
    required: ["on", "jobs"]
  },
  Tree: {
    $ref: "#/definitions/node",
    definitions: {
      node: {
        type: "object",
        properties: { title: text, children: { type: "array", items: { $ref: "#/definitions/node" } } }
      }
    }
  },
  Linter: {
    properties: {
      root: { type: "boolean" },
      parserOptions: {
        properties: {
          ecmaVersion: { default: 11, enum: [3, 5, 6, "latest"] },
          sourceType: { enum: ["module", "script"] }
        },
        type: "object"
      },
      rules: {
        type: "object",
        additionalProperties: { oneOf: [{ type: "integer", minimum: 0, maximum: 2 }, { type: "array" }] }
      }
    }
  },
  Schedule: {
    properties: {
      begins: { type: "string", format: "date-time" },
      day: { type: "string", format: "date" },
      at: { type: "string", format: "time" },
      interval: { type: "integer", minimum: 1, maximum: 99 },
      reviewers: { type: "array", items: { type: "string", minLength: 1 }, minItems: 1, uniqueItems: true }
    },
    required: ["begins", "interval"]
  },
  Service: {
    properties: {
      services: {
        type: "array",
        items: {
          type: "object",
          required: ["image"],
          properties: {
            image: text,
            ports: { type: "array", items: { type: ["string", "integer"] } },
            environment: { type: "object", additionalProperties: text }
          }
        }
      },
      deleted: { type: "boolean" },
      id: text
    }
  },
  Colours: {
    properties: {
      palette: { type: "array", items: { type: "array", items: { type: "number" } } },
      opacity: { type: "number", minimum: 0, maximum: 1 }
    }
  },
  Nothing: { type: "object" },
  Anything: { properties: { a: true, b: {}, c: { not: { type: "string" } } } },
  Choices: {
    properties: {
      level: { enum: [0, 1, 2] },
      mixed: { enum: ["auto", 0, true] },
      maybe: { enum: ["x", null] },
      one: { const: "fixed" }
    },
    required: ["level", "maybe"]
  },
  Nullable: {
    properties: {
      text: { type: ["string", "null"] },
      number: { anyOf: [{ type: "number" }, { type: "null" }] },
      part: { anyOf: [{ $ref: "#/definitions/p" }, { type: "null" }] }
    },
    definitions: { p: { type: "object", properties: { x: text } } },
    required: ["text", "number", "part"]
  },
  Deep: {
    properties: {
      a: {
        properties: {
          b: { properties: { c: { properties: { d: { properties: { e: { properties: { f: text } } } } } } } }
        }
      }
    }
  },
  Names: {
    properties: {
      "kebab-case": text,
      "with space": text,
      "dotted.name": text,
      _private: text,
      $dollar: text,
      "9lives": text,
      constructor: text,
      toString: text,
      name: text
    }
  },
  Locale: {
    properties: {
      title: { type: "string", title: "Überschrift" },
      "größe": { type: "number" },
      languages: { type: "array", items: { enum: ["de", "en"] } }
    }
  },
  Limits: {
    properties: {
      small: { type: "integer", minimum: -5, maximum: 5 },
      big: { type: "integer", maximum: 9007199254740991 },
      ratio: { type: "number", multipleOf: 0.5 },
      long: { type: "string", maxLength: 5000 }
    }
  },
  Tuples: {
    properties: {
      range: { type: "array", items: [{ type: "integer" }, { type: "integer" }] },
      pairs: { type: "array", items: { type: "array", items: text } }
    }
  },
  Secrets: {
    properties: { password: text, secret: text, token: { type: "string", minLength: 20 }, body: text, comment: text }
  },
  Conditional: {
    properties: { kind: { enum: ["a", "b"] }, value: text },
    if: { properties: { kind: { const: "a" } } },
    then: { required: ["value"] },
    dependencies: { value: ["kind"] }
  }
}
