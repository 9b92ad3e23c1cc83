/**
 * The internals of models that Repository, Client, Security and Http use beside the public modules: the structure of a
 * model, and the functions that decode, encode, complete and validate its instances. `index.ts` does not export it, and
 * other folders import nothing else from the rooms of `src/Model`.
 *
 * @since 0.1.0
 */

// The structure of models and fields.
export {
  keptField,
  modelVersionField,
  type Step,
  type Versions,
  versionsTypeId,
  type ViewOf,
  viewTypeId
} from "./EarlierForm.ts"
export { idSchemaOf } from "./fieldTypes/reference.ts"
export { isAnyText, shownIdOf, wireIdOf } from "./fieldTypes/wireId.ts"
export type { StoredFile } from "./File.ts"
export { type FieldAttributes, loggedTypeId, relatedAnnotation, temporalKind } from "./shape/annotations.ts"
export { ObjectIdText } from "./shape/bsonKinds.ts"
export { definesKind, evolve, withoutChecks } from "./shape/fields.ts"
export { type FileField, fileFieldsOf, type FileReference, filesOf } from "./shape/files.ts"
export { choicesOf, holdsTexts, kindOf } from "./shape/kind.ts"
export { fold, nodesIn } from "./shape/nodes.ts"
export { childrenOf, isOfOneType, mapParts, typeAt, withChecksThat, withParts } from "./shape/nodes.ts"
export {
  assertReferences,
  backReferencesOf,
  embeddedOf,
  referencesOf,
  type ReferringField
} from "./shape/references.ts"
export {
  type FieldNames,
  isAmongFields,
  isModelList,
  modelWithout,
  restrictionProblem,
  withoutIndexes
} from "./shape/restrictedModel.ts"
export { sentForm } from "./shape/sentForm.ts"
export { assertUniqueByShard, shardKeyOf } from "./shape/shardKey.ts"
export { jsonLinkOf, nameOf } from "./shape/storedForm.ts"
export {
  assertSeparable,
  elementOf,
  hasRules,
  isModelLike,
  isRequiredInput,
  managedField,
  type ModelLike,
  modelOf,
  modelsIn,
  modelTypeId,
  nestedModel,
  someFieldIn,
  unwrapped,
  validationTypeId,
  variants
} from "./shape/variants.ts"

// Decoding and encoding of values, and the messages about invalid ones.
export { formatDateTime, hasFourDigitYear, isDate, parseDate, parseDateTime } from "./codec/dateTexts.ts"
export { withLimitedDigits } from "./codec/digits.ts"
export { bodyDecoder, type Decoded, limitProblems } from "./codec/explainer.ts"
export { type FieldProblem, problemsOf } from "./codec/fieldProblems.ts"
export { jsonCodec } from "./codec/jsonCodec.ts"
export { type DocumentForm, formWithout } from "./codec/restrictedForm.ts"
export { type Serialiser, writtenDefaults } from "./codec/serialiser.ts"
export { isNullValue } from "./codec/validationContext.ts"
export { withoutRules } from "./codec/withoutRules.ts"
export { expectationOf, expectedBy, ruleOf, typeInMessage, withoutTextSuffix } from "./codec/wording.ts"

// Construction, completion, update and validation of instances.
export { wireFormOf } from "./instance/conversions.ts"
export { finaliser } from "./instance/finaliser.ts"
export { completer } from "./instance/insertCompleter.ts"
export { inspector } from "./instance/inspector.ts"
export { Kept } from "./instance/keptFields.ts"
export { keptFields } from "./instance/keptFields.ts"
export { withoutOmitted } from "./instance/omission.ts"
export { applyPatch, replacesWhole } from "./instance/patchedFields.ts"
export { patcher, replacementGuard } from "./instance/patcher.ts"
export { recordDecoder, recordEncoder } from "./instance/recordCodec.ts"
export { sentFinaliser } from "./instance/sentFinaliser.ts"
