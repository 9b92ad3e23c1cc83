/** What the OpenAPI document says of query parameters. It stands apart from their schemas, since clients load those. */

export interface ParameterTexts {
  readonly [name: string]: string
}

export const parameterTexts: ParameterTexts = {
  page: "The number of the page",
  page_size: "How many documents a page has",
  sort_by: "The field to sort by, or several, separated by commas; `-` before one turns it around",
  sort_order: "The direction of all that `sort_by` names, in upper or lower case",
  query: "A condition in the document database's own language, as JSON",
  logic: "How conditions on fields combine, in upper or lower case",
  fields: "The fields to answer, separated by commas; documents then have no others, required ones neither",
  expand: "The fields to expand, separated by commas",
  cursor: "Where the page begins, as the link `next` of the page before has it; empty for the first page",
  count: "Whether and how documents are counted, for the link `last`",
  pipe: "An aggregation pipeline: a JSON array of its stages",
  mongo: "Whether it is for MongoDB's own validation",
  additional_properties: "Whether properties that are not the model's are accepted; they are, unless it says `false`",
  as_of: "Answers the document as it was at this time, a date and time; without a zone it is UTC",
  deleted: "Answers documents that are deleted, too (`include`), or these only",
  purge: "Removes the document permanently, whether it is deleted or not",
  all: "`true` where all documents are meant; otherwise a condition is required",
  dry_run: "`true` to be told which documents these are; nothing is written then"
}

/** The texts for one document. */
export const documentTexts: ParameterTexts = {
  ...parameterTexts,
  fields: "The fields to answer, separated by commas, beside the identifier"
}

/** The texts for a stream of changes. */
export const changesTexts: ParameterTexts = {
  offset: "Where to begin: `-1`, the default, with all documents of the list, `now` with the next change, a " +
    "`Stream-Next-Offset` of before, or a time as `2026-11-29T10:00:00Z`, with the changes since then; " +
    "if some are no longer kept, it begins with the first kept one or is a 410, as the store can",
  live: "Whether to wait for changes: in a body of events without an end, or until there is one",
  cursor: "The `Stream-Cursor` of the answer before"
}
