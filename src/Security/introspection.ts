/**
 * What the HTTP server needs of rules beyond their public modules: which rules a caller holds. Users cannot import this
 * module. Other folders import nothing else from the private rooms of `src/Security`.
 *
 * @since 0.1.0
 */
export { type Held, heldBy, isOfDocument, rulesFor, type Situation } from "./policy/decide.ts"
