/**
 * What the HTTP server needs of access control beyond its public modules. Users cannot import this module. Other folders import
 * nothing else from the private rooms of `src/Access`.
 *
 * @since 0.1.0
 */

// Decisions.
export {
  type AccessControl,
  type Endpoint,
  makeAccessControl,
  makePossibleGrants,
  withAllData
} from "./decision/accessControl.ts"
export { grantIdsFor } from "./decision/effectiveGrants.ts"
export { type ModelPolicy, modelPolicy } from "./decision/modelPolicy.ts"

// What callers see of documents.
export { type DocumentForm, formWithout } from "./fields/documentForm.ts"
export {
  type FieldNames,
  fieldRuleProblem,
  hiddenBy,
  isWithin,
  type Masked,
  modelWithout,
  withoutIndexes
} from "./fields/fieldMask.ts"
export {
  type CallerDocuments,
  type Grants,
  hasAllFields,
  keyOf,
  type ModelView,
  modelView,
  noGrants,
  wholeView
} from "./fields/modelView.ts"
export { hiddenWithin } from "./fields/nestedMask.ts"
export { type Values, type WriteMask } from "./fields/writeMask.ts"
