/**
 * What callers see of documents, for the HTTP server. Users cannot import this module. Other folders import nothing but this
 * module and `enforcement.ts` from the private rooms of `src/Access`.
 *
 * @since 0.1.0
 */
export { type CallerDocuments, type Grants, noGrants } from "./fields/callerDocuments.ts"
export { type DocumentForm, formWithout } from "./fields/documentForm.ts"
export {
  type FieldNames,
  fieldRuleProblem,
  hiddenBy,
  isWithin,
  modelWithout,
  withoutIndexes
} from "./fields/fieldMask.ts"
export { hasAllFields, keyOf, type ModelView, modelView, wholeView } from "./fields/modelView.ts"
export { hiddenWithin } from "./fields/nestedMask.ts"
export type { WriteMask } from "./fields/writeMask.ts"
