/**
 * Calls of MongoDB's driver with a connection of a store: what AppKernel keeps files in GridFS with. It loads the driver, and may change
 * in any version.
 *
 * @since 0.1.0
 */
export { type GridFSBucketWriteStream, ObjectId } from "mongodb"
export { classify } from "./driver/classifyError.ts"
export { asBytes } from "./driver/documentBytes.ts"
export { type MongoCall, type MongoSession, read, readBatches, remove, write } from "./driver/driverCall.ts"
