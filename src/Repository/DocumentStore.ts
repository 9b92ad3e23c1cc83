/**
 * The port between repositories and the stores of documents. A store has collections of BSON documents, and is addressed in
 * MongoDB's terms: filters, updates, pipelines, index keys.
 *
 * Every store passes the same contract suite, so a program can change its store without other changes. The package
 * `@appkernel/document-store` has the port without the framework.
 *
 * @since 0.1.0
 */
export * from "@appkernel/document-store/DocumentStore"
