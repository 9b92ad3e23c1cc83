import { assert, describe, it } from "@effect/vitest"
import { brokenRules } from "../src/driver/validationErrors.ts"

describe("mongoValidation", () => {
  const start = "the document does not fulfil the rules of its collection"

  it("names fields and rules, and no values", () => {
    const secret = "secret"
    const errInfo = {
      failingDocumentId: secret,
      details: {
        operatorName: "$jsonSchema",
        title: "Thing",
        schemaRulesNotSatisfied: [
          { operatorName: "required", specifiedAs: { required: ["a"] }, missingProperties: ["a", "b"] },
          {
            operatorName: "properties",
            propertiesNotSatisfied: [
              {
                propertyName: "n",
                details: [{
                  operatorName: "properties",
                  propertiesNotSatisfied: [{
                    propertyName: "x",
                    details: [
                      { operatorName: "bsonType", reason: "type did not match", consideredValue: secret },
                      { operatorName: "minimum", reason: "comparison failed", consideredValue: secret }
                    ]
                  }]
                }]
              },
              {
                propertyName: "list",
                details: [{
                  operatorName: "items",
                  itemIndex: 2,
                  details: [{ operatorName: "pattern", consideredValue: secret }]
                }]
              },
              { propertyName: "either", details: [{ operatorName: "anyOf", schemasNotSatisfied: [] }] }
            ]
          },
          { operatorName: "additionalProperties", specifiedAs: {}, additionalProperties: ["more"] },
          { operatorName: "not", details: { consideredValue: secret } }
        ]
      }
    }
    const text = brokenRules(errInfo)
    assert.strictEqual(
      text,
      `${start}: a (required), b (required), n.x (bsonType), n.x (minimum), list.2 (pattern), either (anyOf), `
        + "more (additionalProperties), not"
    )
    assert.notInclude(text, secret)
  })

  it("lists the rules of any reported details, with at most 20 properties", () => {
    assert.strictEqual(brokenRules(undefined), start)
    assert.strictEqual(brokenRules({ details: 5 }), start)
    assert.strictEqual(brokenRules({ details: { operatorName: "$expr", expressionResult: false } }), `${start}: $expr`)
    const properties = Array.from({ length: 30 }, (_, i) => `p${i}`)
    const details = { operatorName: "required", missingProperties: properties }
    assert.match(brokenRules({ details }), /p19 \(required\), …$/)
  })
})
