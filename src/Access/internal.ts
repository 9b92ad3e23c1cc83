/**
 * What callers see of documents, for the HTTP server. A service without access control loads none of it. Users cannot import
 * this module. Other folders import nothing but this module and `AccessControl.ts` from the private rooms of `src/Access`.
 *
 * @since 0.1.0
 */
export { hiddenWithin } from "./fields/maskedFields.ts"
export {
  type CallerDocuments,
  type Grants,
  hasAllFields,
  keyOf,
  type ModelView,
  modelView,
  noGrants
} from "./fields/modelView.ts"
export type { WriteMask } from "./fields/writeMask.ts"
