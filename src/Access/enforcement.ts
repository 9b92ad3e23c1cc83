/**
 * Decisions of what callers may do, and what they see of documents, for the HTTP server. It stands apart from
 * `introspection.ts` because it loads the query language, which programs without a store have no use for. Users cannot import
 * this module.
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
export { type ModelPolicy, modelPolicy } from "./decision/modelPolicy.ts"

// What callers see of documents.
export { type DocumentForm, formWithout } from "./fields/documentForm.ts"
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
export type { WriteMask } from "./fields/writeMask.ts"
