/**
 * The differences between MongoDB and a substitute server, in one table. The tests of these differences are skipped on the
 * substitute, and run on MongoDB. Of generated scenarios, the answers to such calls are not compared with the substitute's.
 */
import type { MongoServer } from "./mongoGlobalSetup.ts"

/** What a substitute does; with a pattern of the documents and the call as source where generated calls show it. */
type Entry = string | { readonly what: string; readonly calls: RegExp }

const secantus = {
  distinctInLists: { what: "It skips documents in lists when it collects distinct values.", calls: /\.distinct\(/ },
  distinctNumbers: "It distinguishes equal numbers of different types among distinct values.",
  itemsOfNoList: {
    what:
      "It accepts $[x] on a value that is no list, fields of a number, and a path that begins with $, which MongoDB rejects.",
    calls: /\.\$\[/
  },
  laxIdentifiers: "It accepts identifiers that are lists or patterns, or have operators, which MongoDB rejects.",
  itemsTwice: "It accepts $[x] and $[] of two changes for the same item, which MongoDB rejects as a conflict.",
  positionalUpserts: {
    what: "It takes the $ of an upsert that inserts for a name, which MongoDB rejects.",
    calls: /\.\$[".].*upsert: true/
  },
  partialIndexes: "It uses a partial index for queries that the index does not cover, and so finds too few documents.",
  timeZoneExpression: "It takes an expression for the name of a time zone.",
  dateToStringOnNull: "It ignores onNull of $dateToString.",
  severalOperators: "It takes a document of several operators for a value, which MongoDB rejects.",
  newFieldOrder: "It adds fields in the order of the update, not of their names.",
  elementOfPositional: {
    what: "It gives $ the item of another condition than the $elemMatch, one of a negation, and none of $and and $or.",
    calls: /\.\$"/
  },
  pathsThroughLists: {
    what:
      "It ends a path of $slice, $project, $unset and $addFields at a list, and $addFields replaces a nested document.",
    calls:
      /"\$+(this\.)?[clov]\.\w+"|"(c|o|v)\.\w+": [{"[]|\$project: \{.*"\w\.[\w.]+": |\$unset: \[|\$unset: "|\$slice/
  },
  decimalMath: {
    what: "It computes powers and logarithms of decimals as doubles.",
    calls: /\$(sqrt|exp|ln|log|log10|pow)\b/
  },
  granularity: { what: "It has no granularity of $bucketAuto.", calls: /granularity/ },
  numberedItems: {
    what: "It takes a number in a path of an expression for the place of an item.",
    calls: /"\$+[\w.]+\.\d/
  },
  flagsWithinPatterns: "It takes no flags within a regular expression.",
  operandsOfMod: "It accepts a $mod of a filter without two numbers, which MongoDB rejects.",
  itemsOfAll: "It takes neither lists nor fields of a list's documents for the items of $all.",
  collidingPaths: "It accepts a path and a part of it in one projection.",
  laxDensify: "It accepts malformed operands of $densify and $fill, or fails with an internal error.",
  fullRanges: "It densifies a partition within its own range where the range is full.",
  laxWindows: "It accepts windows and sorts that MongoDB rejects.",
  lackingWindows: {
    what:
      "Its windows lack covariance, $minMaxScaler, months, $linearFill by dates, decimals and dotted paths, and take ties for the current one.",
    calls: /\$setWindowFields/
  },
  pipelineUpdates: "It accepts an empty $set, and array filters, in an update by a pipeline, which MongoDB rejects.",
  geography: {
    what: "It takes longitude and latitude for coordinates of the plane, and fails to build some 2dsphere indexes.",
    calls: /\$(geo|near)/
  },
  collation: {
    what: "It knows few rules of languages, checks no collation, and applies them to simple filters and sorts only.",
    calls: /\bcollation: \{/
  },
  schemaFieldOrder: "It takes items with the same fields in another order for different ones in a JSON schema.",
  schemaDecimals: "It does not compare decimals with other numbers in a JSON schema.",
  malformedSchemas: {
    what: "It accepts malformed operands of the keywords of a JSON schema, which MongoDB rejects.",
    calls: /(bsonType|type): \[|imum: (null|"|\{)/
  },
  sampleRate: "It does not know $sampleRate as a filter.",
  nestedMatches: {
    what: "It finds no item for $ in a list of a nested document.",
    calls: /"\w+(\.\w+)+\.\$(\.\w+)*":/
  },
  matchedLists: "It finds no item for $ that is a list.",
  positionalProjections: "It accepts several $ in a projection, and $ beside other operators.",
  wordsOfLetters: "It takes letters beyond ASCII for parts of words in patterns.",
  positionalReturns: "It gives no item by $ in the projection of a findOneAndUpdate.",
  equalIdentifiers: "It rejects an equal number of another type as a document's identifier in an update.",
  lateProjection: "It writes before it rejects a malformed projection of a findAndModify.",
  nestedPipelines: "It accepts variables in capitals and stages that write in pipelines of stages.",
  pipelineWrites: {
    what: "It ignores unique indexes and other writers in $out and $merge, and stages that no update has.",
    calls: /\$(merge|out): /
  },
  documentsInStages: {
    what: "It has no $documents in a $unionWith or $lookup.",
    calls: /\$unionWith: \{ pipeline|\$documents/
  },
  joinOrder: "It orders what $lookup joins by the items of the local list, not as the joined collection.",
  placesAsInts: {
    what: "It makes ints of the places of $unwind and the depths of $graphLookup, which are longs.",
    calls: /includeArrayIndex/
  },
  farDates: {
    what: "It takes no dates before the year 1 and after 9999.",
    calls: /new Date\(-?(8640000000000000|62135596800000|253402300799999)\)/
  },
  renameConflicts: { what: "It accepts $rename beside another change of the same path.", calls: /\$rename/ },
  nestedProjections: {
    what: "It takes 1 and true of a nested projection for values.",
    calls: /\{ x: (1|true) \}/
  },
  emptyLists: {
    what: "It takes an empty list on the way of a path for a missing value.",
    calls: /localField: "c\.x"/
  },
  zeroDivisors: { what: "It accepts a $mod by zero of a filter.", calls: /\$mod/ },
  countOfNothing: { what: "It counts no documents as one result.", calls: /\$count/ },
  parallelLists: { what: "It sorts by two lists of one document, which MongoDB rejects.", calls: /\$(top|bottom)/ },
  constantInputs: {
    what: "It rejects accumulators of several values whose input is constant.",
    calls: /\$(first|last|max|min)N/
  },
  deviations: { what: "It sums up squares for a standard deviation, and loses digits.", calls: /\$stdDev/ },
  partsOfMilliseconds: { what: "It cuts a date's fraction, which MongoDB rounds.", calls: /\$(add|subtract)/ },
  typedDirections: "It takes only an int for a direction of $sort and $sortArray.",
  bitsOfLongs: "It makes an int of a long by $bit.",
  firstOfNothing: "It takes null for the first and the last item of an empty list.",
  pathsOfSums: "It ends the path of a $sum or $stdDevPop over a list of documents at the list.",
  mixedSorts: "It fails to sort lists of values of different types.",
  notOfLists: "It takes a list for its only item in $not.",
  laxBranches: "It accepts other fields in a branch of $switch.",
  namedClasses: "It knows no named classes such as [:space:] in patterns.",
  datesAsTexts: "It writes a date without its zone by $convert.",
  slowDecimals: "It takes seconds for the trigonometry of decimals.",
  newOperators: {
    what:
      "It lacks $sigmoid, $top and $bottom of lists, $unsetField, $createObjectId, $subtype, $hexHash, and names in loops.",
    calls: /\$(sigmoid|unsetField|\$IDX)|arrayIndexAs/
  },
  namedMonths: "It knows no names of months in texts of dates.",
  binaryTexts: "It converts no binary data from and to texts.",
  boundCurrent: "It reads the document by $<field> where $let or $map binds CURRENT.",
  variableNames: "It takes any text for the name of a variable.",
  patternsToReplace: "It takes no regular expressions in $split, $replaceOne and $replaceAll.",
  newAccumulators: "It lacks $concatArrays and $setUnion as accumulators, and these and $mergeObjects of windows.",
  lastOfTies: { what: "It takes the last of documents that are alike for the $bottom of a group.", calls: /\$bottom/ },
  laxCounts: "It accepts a $count of a group with an operand, and any maxDepth of $graphLookup.",
  uncheckedNumbers: {
    what: "It checks the operands of $inc and $mul only when a document matches.",
    calls: /\$(inc|mul): \{[^}]*: (true|false|null|["[{/]|new (Date|ObjectId|Binary))/
  },
  unfilled: { what: "It leaves out a field that $fill finds no value for, where MongoDB gives null.", calls: /\$fill/ },
  joinsInScalars: { what: "It drops what is joined into a path through a scalar.", calls: /as: "\w+\./ },
  negativeLengths: { what: "It takes a negative length of $substrCP for none.", calls: /\$substrCP: \[.*-\d/ },
  joinedPaths: {
    what: "It follows the fields of $lookup and $graphLookup through one list at most.",
    calls: /localField: "|connectToField: "/
  },
  laxStages: "It accepts unknown arguments and malformed paths of stages, which MongoDB rejects.",
  laxArguments: "It accepts $firstN of nothing, and options of a pattern that has its own.",
  doublesAsTexts: {
    what: "It writes doubles as JavaScript does.",
    calls: /\$to(String|Lower|Upper)|\$substr|\$convert/
  },
  binsOfDates: "It counts the bins of $dateTrunc by the offset of the date.",
  emptyMatches: "It finds an empty match at the end of a text.",
  expressionsOfItems: "It accepts $expr in $elemMatch and $pull, which MongoDB rejects.",
  projectedItems: "It gives an item by $elemMatch in its place, and takes {} in a projection.",
  transactionTimes:
    "It gives each write of a transaction a time of its own, so that a change does not tell its transaction.",
  operationTimes:
    "It answers a write with the time of the newest write of anybody, so that beside others a write does not tell its transaction.",
  unevenLists: { what: "It rejects $zip of a missing list.", calls: /\$zip/ }
} satisfies { readonly [name: string]: Entry }

/** A difference of a substitute server. */
export type Difference = keyof typeof secantus

/** Whether a server has the difference. */
export type Differs = (difference: Difference) => boolean

/** MongoDB, which has no differences. */
export const asMongo: Differs = () => false

const isSubstitute = (server: MongoServer): boolean => server.found && server.name.startsWith("SecantusDB")

export const differencesOf = (server: MongoServer): Differs =>
  isSubstitute(server) ? (difference) => Object.hasOwn(secantus, difference) : asMongo

/** Whether a server answers a generated call otherwise than MongoDB, judged by the source of the documents and the call. */
export const answersOtherwise = (server: MongoServer): (source: string) => boolean => {
  if (!isSubstitute(server)) return () => false
  const patterns = Object.values<Entry>(secantus).flatMap((entry) => typeof entry === "string" ? [] : [entry.calls])
  return (source) => patterns.some((pattern) => pattern.test(source))
}
