/**
 * A store of documents in MongoDB, over its official driver.
 *
 * @since 0.1.0
 */
export * from "./MongoStore.ts"
