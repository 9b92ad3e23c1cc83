/**
 * A store of documents in a folder or in memory, without a server.
 *
 * @since 0.1.0
 */
export * from "./EmbeddedStore.ts"
