/**
 * What the repository and the HTTP server need of models beyond their public modules: what a model is made of, and what
 * reads, writes and completes its instances. Users can't import it; nothing else under `src/Model` is open to other
 * folders.
 *
 * @since 0.1.0
 */

// What a model and its fields are.
export { type Deletion, type Revision } from "./fieldTypes/managedFields.ts"
export { type FieldAttributes, relatedAnnotation, temporalKind, validatorAnnotation } from "./shape/annotations.ts"
export { ObjectIdText } from "./shape/bsonKinds.ts"
export { evolve, withoutChecks } from "./shape/fields.ts"
export { kindOf } from "./shape/kind.ts"
export { childrenOf, withParts } from "./shape/nodes.ts"
export { perModel } from "./shape/perModel.ts"
export { jsonLinkOf, nameOf } from "./shape/storedForm.ts"
export {
  assertSeparable,
  elementOf,
  hasRules,
  hasToBeSent,
  isModelLike,
  managedField,
  type ModelLike,
  modelOf,
  modelTypeId,
  nestedModel,
  unwrapped,
  validationTypeId,
  variants
} from "./shape/variants.ts"

// How values are read and written, and what is said of those that are wrong.
export { bodyDecoder, type Decoded, limitProblems } from "./codec/explainer.ts"
export { formatDateTime, hasFourDigitYear, isDate, parseDate, parseDateTime } from "./codec/iso.ts"
export { type FieldProblem, problemsOf } from "./codec/issues.ts"
export { compileSerialiser, type Serialiser } from "./codec/serialiser.ts"
export { isNullValue } from "./codec/validationContext.ts"
export { withoutRules } from "./codec/withoutRules.ts"
export { expectationOf, ruleOf, typeInMessage, withoutTextSuffix } from "./codec/wording.ts"

// How instances are made, completed, changed and checked.
export { completer } from "./instance/completer.ts"
export { finaliser } from "./instance/finaliser.ts"
export { inspector } from "./instance/inspector.ts"
export { isPlainObject, type Merge, mergeOf, mergeProperties } from "./instance/mergePatch.ts"
export { patcher } from "./instance/patcher.ts"
export { recordDecoder, recordEncoder } from "./instance/recordCodec.ts"
