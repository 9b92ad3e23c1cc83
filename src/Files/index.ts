/**
 * The stores that keep the bytes of files.
 *
 * @since 0.1.0
 */
export * as FileStore from "./FileStore.ts"
