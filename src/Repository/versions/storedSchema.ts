/** The JSON schema of a model's stored documents while some of them may be stored in earlier forms. */
import * as Effect from "effect/Effect"
import { formField, type ModelLike } from "../../Model/internal.ts"
import * as JsonSchema from "../../Model/JsonSchema.ts"
import type { DocumentStore } from "../DocumentStore.ts"
import type { ReadError } from "../RepositoryError.ts"
import { markReader } from "./agreement.ts"
import { formsOf } from "./modelVersions.ts"

/** Admits the documents of each form that may be stored. */
export const storedSchema = (
  model: ModelLike,
  store: DocumentStore["Service"]
): Effect.Effect<JsonSchema.JsonSchema, ReadError> => {
  const forms = formsOf(model)
  return Effect.map(markReader(store, model.modelName, forms).current, ({ earliest }) => {
    const all = forms.models.map((one, i) => numbered(JsonSchema.make(one, { mongoCompatibility: true }), i + 1))
    return { title: model.modelName, anyOf: all.slice(earliest - 1) }
  })
}

// internal

/** A document has the number of its form, except in the first one. */
const numbered = (schema: JsonSchema.JsonSchema, form: number): JsonSchema.JsonSchema =>
  form === 1
    ? { ...schema, not: { required: [formField] } }
    : {
      ...schema,
      properties: { ...Object(schema["properties"]), [formField]: { enum: [form] } },
      required: [...Array.isArray(schema["required"]) ? schema["required"] : [], formField]
    }
