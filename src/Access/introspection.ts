/**
 * What the HTTP server needs of field masks beyond the public modules. Users cannot import this module. Other folders import
 * nothing but this module and `enforcement.ts` from the private rooms of `src/Access`.
 *
 * @since 0.1.0
 */
export {
  type FieldNames,
  fieldRuleProblem,
  hiddenBy,
  isWithin,
  modelWithout,
  withoutIndexes
} from "./fields/fieldMask.ts"
