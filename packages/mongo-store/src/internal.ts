/**
 * A store together with its connection, which it shares with what AppKernel keeps beside the documents. It may change in any version.
 *
 * @since 0.1.0
 */
export { open } from "./open.ts"
export type { Connected } from "./store/store.ts"
