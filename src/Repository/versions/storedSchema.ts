/** The JSON schema of a model's stored documents while some of them may be stored in earlier versions. */
import * as Effect from "effect/Effect"
import { type ModelLike, modelVersionField } from "../../Model/internal.ts"
import * as JsonSchema from "../../Model/JsonSchema.ts"
import type { DocumentStore } from "../DocumentStore.ts"
import type { ReadError } from "../RepositoryError.ts"
import { agreementReader } from "./agreement.ts"
import { modelVersionsOf } from "./modelVersions.ts"

/** Admits the documents of each version that may be stored. */
export const storedSchema = (
  model: ModelLike,
  store: DocumentStore["Service"]
): Effect.Effect<JsonSchema.JsonSchema, ReadError> => {
  const versions = modelVersionsOf(model)
  return Effect.map(agreementReader(store, model.modelName, versions).current, ({ earliest }) => {
    const all = versions.models.map((one, i) => numbered(JsonSchema.make(one, { mongoCompatibility: true }), i + 1))
    return { title: model.modelName, anyOf: all.slice(earliest - 1) }
  })
}

// internal

/** A document has the number of its version, except in the first one. */
const numbered = (schema: JsonSchema.JsonSchema, version: number): JsonSchema.JsonSchema =>
  version === 1
    ? { ...schema, not: { required: [modelVersionField] } }
    : {
      ...schema,
      properties: { ...Object(schema["properties"]), [modelVersionField]: { enum: [version] } },
      required: [...Array.isArray(schema["required"]) ? schema["required"] : [], modelVersionField]
    }
