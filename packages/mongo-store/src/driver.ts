/**
 * Calls of MongoDB's driver on the connection of a store. AppKernel stores files in GridFS with them. This module loads the driver, and
 * may change in any version.
 *
 * @since 0.1.0
 */
export { type GridFSBucketWriteStream, ObjectId } from "mongodb"
export { classify } from "./driver/classifyError.ts"
export { asBytes } from "./driver/documentBytes.ts"
export { type MongoCall, type MongoSession, read, readBatches, remove, write } from "./driver/driverCall.ts"
