/**
 * What callers see of documents, for the HTTP server. Users cannot import this module. Other folders import nothing but this
 * module and `AccessControl.ts` from the private rooms of `src/Access`.
 *
 * @since 0.1.0
 */
export { type DocumentForm, formWithout } from "./fields/documentForm.ts"
export {
  type FieldNames,
  fieldRuleProblem,
  hiddenBy,
  hiddenWithin,
  isWithin,
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
export type { WriteMask } from "./fields/writeMask.ts"
