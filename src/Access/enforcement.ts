/**
 * Decisions of what callers may do, for the HTTP server. It stands apart from `introspection.ts` because it loads the query
 * language, which a service without access control has no use for. Users cannot import this module.
 *
 * @since 0.1.0
 */
export {
  type AccessControl,
  type Endpoint,
  makeAccessControl,
  makePossibleGrants,
  withAllData
} from "./decision/accessControl.ts"
export { type ModelPolicy, modelPolicy } from "./decision/modelPolicy.ts"
