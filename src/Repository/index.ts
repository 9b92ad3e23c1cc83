/**
 * Repositories, queries and updates, the stores in memory, in a folder and on MongoDB, and migrations.
 *
 * @since 0.1.0
 */
export * as DocumentStore from "./DocumentStore.ts"
export * as EmbeddedStore from "./EmbeddedStore.ts"
export * as Migration from "./Migration.ts"
export * as MongoStore from "./MongoStore.ts"
export * as Query from "./Query.ts"
export * as Repository from "./Repository.ts"
export * as RepositoryError from "./RepositoryError.ts"
export * as Update from "./Update.ts"
export * as Upgrade from "./Upgrade.ts"
