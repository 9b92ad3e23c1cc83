/**
 * A store together with its connection, which AppKernel also uses for files. It may change in any version.
 *
 * @since 0.1.0
 */
export { open } from "./open.ts"
export type { Connected } from "./store/store.ts"
