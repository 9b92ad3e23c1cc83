import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Model } from "../../src/index.ts"
import { Folder, Patient, Step, Visit } from "../support/references.ts"

describe("Model.reference", () => {
  it.effect("has values of the other model's identifiers, also of a class that is declared later", () =>
    Effect.gen(function*() {
      const patient = Patient.fields.id.make("P1")
      const visit = yield* Model.finalise(Visit, {
        patient,
        others: [patient],
        steps: [{ text: "a", code: "0123456789abcdef01234567" }],
        follows: "V0"
      })
      assert.deepStrictEqual([visit.patient, visit.others, visit.follows], ["P1", ["P1"], "V0"])
      assert.strictEqual(visit.steps[0]?.code, "0123456789abcdef01234567")
      const wrong = yield* Effect.flip(Model.finalise(Visit, {
        patient: Patient.fields.id.make("P1"),
        steps: [new Step({ text: "a" }), { text: "b", code: "no ObjectId" }],
        follows: 7 as never
      }))
      assert.deepStrictEqual(wrong.problems.map(({ field }) => field), ["steps.1.code", "follows"])
    }))

  it("is named in the metadata and described in the JSON schema", () => {
    const { follows, others, patient, version } = Model.metadata(Visit)
    assert.deepStrictEqual(
      [patient, others, follows, version].map((field) => [field?.type, field?.sub_type, field?.reference]),
      [["str", undefined, "Patient"], ["list", "str", "Patient"], ["str", undefined, "Visit"], [
        "int",
        undefined,
        undefined
      ]]
    )
    const schema = Object(Model.jsonSchema(Visit))
    const { properties } = schema
    assert.strictEqual(properties.patient.description, "Refers to Patient.")
    assert.deepStrictEqual(properties.others.items, {
      type: "string",
      minLength: 1,
      description: "Refers to Patient."
    })
    assert.strictEqual(properties.follows.description, "Refers to Visit.")
    assert.deepStrictEqual(properties.follows.type, ["string", "null"])
    assert.strictEqual(
      schema.definitions.Step.properties.code.description,
      "Refers to Code."
    )
    assert.strictEqual(
      Object(Model.jsonSchema(Folder, { mongoCompatibility: true })).properties.parent.description,
      "Refers to Folder."
    )
  })
})
