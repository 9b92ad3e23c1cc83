/**
 * The port between programs and the stores of documents: its service, its types and its errors.
 *
 * @since 0.1.0
 */
export * from "./DocumentStore.ts"
export * from "./StoreError.ts"
