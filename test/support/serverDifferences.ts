/**
 * What a server that stands in for MongoDB does otherwise than MongoDB, and than the contract: those tests are skipped
 * on it. MongoDB itself is held to all of them.
 */
import type { MongoServer } from "./mongoGlobalSetup.ts"

const secantus = {
  distinctInLists: "It does not look into documents in lists for distinct values.",
  distinctNumbers: "It tells equal numbers of different types apart when it looks for distinct values.",
  itemsOfNoList: "It ignores a path's $[x] that leads to no list, where MongoDB refuses the update.",
  itemsTwice: "It does not notice that $[x] and $[] of two changes are the same item, which MongoDB refuses.",
  partialIndexes: "It finds by a partial index what the query asks for beyond that index, and so too little.",
  lateProjection: "It writes before it finds out that the projection of a findAndModify is malformed."
}

/** Something that a server may do otherwise. */
export type Difference = keyof typeof secantus

/** Whether a server does it otherwise. */
export type Differs = (difference: Difference) => boolean

/** As MongoDB does it. */
export const asMongo: Differs = () => false

export const differencesOf = (server: MongoServer): Differs =>
  server.found && server.name.startsWith("SecantusDB") ? (difference) => Object.hasOwn(secantus, difference) : asMongo
