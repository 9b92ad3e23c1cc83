/**
 * The differences between MongoDB and a substitute server. The tests of these differences are skipped on the substitute,
 * and run on MongoDB.
 */
import type { MongoServer } from "./mongoGlobalSetup.ts"

const secantus = {
  distinctInLists: "It skips documents in lists when it collects distinct values.",
  distinctNumbers: "It distinguishes equal numbers of different types among distinct values.",
  itemsOfNoList: "It ignores a $[x] on a value that is not a list, where MongoDB rejects the update.",
  itemsTwice: "It accepts $[x] and $[] of two changes for the same item, which MongoDB rejects as a conflict.",
  partialIndexes: "It uses a partial index for queries that the index does not cover, and so finds too few documents.",
  timeZoneExpression: "It takes an expression for the name of a time zone.",
  dateToStringOnNull: "It ignores onNull of $dateToString.",
  severalOperators: "It takes a document of several operators for a value, which MongoDB rejects.",
  elementOfPositional: "It gives $ the item of another condition than the $elemMatch.",
  pathsThroughLists: "It ends a path of $slice and $addFields at a list, and $addFields replaces a nested document.",
  pipelineUpdates: "It accepts an empty $set, and array filters, in an update by a pipeline, which MongoDB rejects.",
  lateProjection: "It writes before it rejects a malformed projection of a findAndModify."
}

/** A difference of a substitute server. */
export type Difference = keyof typeof secantus

/** Whether a server has the difference. */
export type Differs = (difference: Difference) => boolean

/** MongoDB, which has no differences. */
export const asMongo: Differs = () => false

export const differencesOf = (server: MongoServer): Differs =>
  server.found && server.name.startsWith("SecantusDB") ? (difference) => Object.hasOwn(secantus, difference) : asMongo
