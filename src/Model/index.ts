/**
 * Models, their fields and what is derived from them: validators, generators, converters, schemas and metadata.
 *
 * @since 0.1.0
 */
export * as Converter from "./Converter.ts"
export * as Field from "./Field.ts"
export * as Index from "./FieldIndex.ts"
export * as Generator from "./Generator.ts"
export * as JsonSchema from "./JsonSchema.ts"
export * as Marshaller from "./Marshaller.ts"
export * as Metadata from "./Metadata.ts"
export * as Model from "./Model.ts"
export * as ModelError from "./ModelError.ts"
export * as Validator from "./Validator.ts"
