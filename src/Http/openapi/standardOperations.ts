/**
 * Completes the standard endpoints of a resource in the OpenAPI document with parameters, headers and response details.
 */
import * as Record from "effect/Record"
import { managedField } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { maxItemsOf } from "../description/limits.ts"
import { tableTypes } from "../description/listTypes.ts"
import {
  aggregationParameters,
  type AnyParameters,
  changesParameters,
  collectionParameters,
  documentParameters,
  manyParameters,
  pagingParameters,
  schemaParameters
} from "../description/queryParameters.ts"
import { isLogged, type Name, type StandardEndpoint } from "../description/standardEndpoints.ts"
import * as History from "../History.ts"
import type { Resource } from "./componentSchemas.ts"
import { entityTags, ifNoneMatch } from "./entityTagHeaders.ts"
import * as Document from "./node.ts"
import {
  describedPageParameters,
  type DescriptionContext,
  expandParameter,
  fieldsParameter,
  filters,
  queryOf
} from "./parameters.ts"
import { changesTexts, documentTexts } from "./parameterTexts.ts"
import type { Call } from "./paths.ts"
import { filterText, statusTexts, withArticle } from "./texts.ts"

type Node = Document.Node

/** Completes a standard operation of a registered model. */
export const completeStandard = (
  operation: Node,
  { isMany, method, name }: StandardEndpoint,
  context: DescriptionContext
): Node =>
  conditional(standard[name](isMany ? withPath(operation) : ordinary(operation), context), method, context.resource)

/** Completes an action of a registered model that has preconditions. */
export const completeConditional = (operation: Node, { method, options }: Call, resource: Resource): Node => {
  const { parameters } = operation
  const others = Document.listOf(parameters).filter((parameter) => Document.nodeOf(parameter)["in"] !== "header")
  const completed = conditional({ ...operation, parameters: others }, method, resource)
  const name = History.nameOf(options ?? {})
  return isVersioned(resource.model) && (name === "restore" || name === "restore_revision")
    ? withResponses(completed, { 200: { headers: { ETag: etag } } })
    : completed
}

/** The operation with the parameters and bodies that the descriptions complete. */
const ordinary = (operation: Node): Node =>
  withPath(Document.mapBodies(
    operation,
    (schema, status) => status === undefined ? Document.nodeOf(Document.listOf(schema["anyOf"])[0] ?? schema) : schema
  ))

/** The operation with the parameters of its path, and no others. */
const withPath = (operation: Node): Node => ({ ...operation, parameters: Document.pathParametersOf(operation) })

const standard: { readonly [N in Name]: (operation: Node, context: DescriptionContext) => Node } = {
  list: (operation, context) => ({
    summary: `List the ${segmentOf(context.resource.path)}, page by page`,
    description: context.resource.tables === undefined ? filterText : `${tableText}\n\n${filterText}`,
    ...withResponses(withTables(Document.mapBodies(operation, joinedLists), context.resource.tables !== undefined), {
      200: {
        description: "One page, with links to the others; with `fields`, of documents without the others",
        headers: {
          "X-Total-Count": totalCount,
          ...context.limits.skipUnreadable === true ? { "X-Unreadable-Count": unreadableCount } : {}
        }
      }
    }),
    parameters: [
      ...describedPageParameters(context),
      ...filters(context.resource.model, context.hidden),
      ...askedBy(context.resource, "deleted", History.deletedParameters)
    ]
  }),
  get: (operation, { expandable, hidden, resource }) => ({
    summary: `Get one ${resource.model.modelName}`,
    ...withResponses(operation, {
      200: {
        description: `The ${resource.model.modelName}; with \`fields\`, without the others, required ones neither`
      }
    }),
    parameters: [
      ...Document.listOf(operation["parameters"]),
      ...queryOf(
        documentParameters,
        { fields: fieldsParameter(resource.model, hidden), ...expandParameter(expandable) },
        documentTexts
      ),
      ...askedBy(resource, "revision", History.asOfParameters),
      ...askedBy(resource, "deleted", History.deletedParameters)
    ]
  }),
  replace_many: (operation, context) =>
    ofMany(operation, context, {
      summary: `Replace several ${segmentOf(context.resource.path)}`,
      description: "The body is a list of documents with their ids.",
      done: "They were replaced",
      hasFilter: false
    }),
  patch_many: (operation, context) =>
    ofMany(operation, context, {
      summary: `Change the ${segmentOf(context.resource.path)} of a filter, or several`,
      description:
        "The body is what changes in all documents that the list, with the same filter, has for the caller; or it is a " +
        "list of changes with the ids of documents, without parameters.",
      done: "They were changed; with `dry_run`, would be",
      hasFilter: true
    }),
  delete_many: (operation, context) =>
    ofMany(operation, context, {
      summary: `Delete the ${segmentOf(context.resource.path)} of a filter`,
      description: "These are the documents that the list, with the same filter, has for the caller.",
      done: "They were deleted; with `dry_run`, would be",
      hasFilter: true
    }),
  aggregate: (operation, { resource: { path } }) => ({
    summary: `Aggregate the ${segmentOf(path)}`,
    ...withResponses(operation, { 200: { description: "What the pipeline gives" } }),
    parameters: queryOf(aggregationParameters)
  }),
  query: (operation, context) => {
    const { parameters, responses } = standard.list(operation, context)
    const properties = Document.listOf(parameters).map((value) => {
      const { content, description, name, schema } = Document.nodeOf(value)
      const json = Document.nodeOf(Document.nodeOf(content)["application/json"])["schema"]
      const own = schema ?? { ...Document.nodeOf(json), additionalProperties: true }
      return [name, { ...Document.nodeOf(own), description }]
    })
    const schema = { type: "object", properties: Object.fromEntries(properties), examples: [{ page: 1 }] }
    return {
      ...operation,
      summary: `List the ${segmentOf(context.resource.path)} by parameters that are too long for a URL`,
      description:
        "It is the same as the `GET` with these parameters, and changes nothing. `QUERY` (RFC 10008) of the path of the " +
        "`GET` takes the same body. A value that is a list is a repeated parameter.",
      requestBody: { required: true, content: { "application/json": { schema } } },
      responses
    }
  },
  changes: (operation, context) => {
    const { hidden, resource: { model, path } } = context
    const answered = withResponses(operation, {
      200: { description: "The changes after the place", headers: { ...streamHeaders, ETag: streamTag } }
    })
    const { content } = Document.nodeOf(Document.nodeOf(answered["responses"])["200"])
    return {
      summary: `Stream the changes of the ${segmentOf(path)}`,
      description:
        `Parameters choose documents as in the list, \`GET ${path}\`. The answer is that of a stream of Durable Streams, with the messages of its State ` +
        "Protocol. A document that begins to match is an `insert`, one that ceases to a `delete`.",
      ...withResponses(answered, {
        200: { content: { ...Document.nodeOf(content), "text/event-stream": { schema: { type: "string" } } } },
        204: { description: "Nothing has changed while the request waited", headers: streamHeaders },
        304: { description: statusTexts["304"], headers: { ETag: streamTag } }
      }),
      parameters: [
        ...queryOf(changesParameters, {}, changesTexts),
        ...describedPageParameters(context).filter(({ name }) =>
          !pagingParameters.has(String(name)) && !Object.hasOwn(changesParameters, String(name))
        ),
        ...filters(model, hidden).filter(({ name }) => !Object.hasOwn(changesParameters, String(name))),
        Document.header("Last-Event-ID", "The `id` of the last event, which counts instead of `offset`", {
          type: "string"
        }),
        ifNoneMatch("Entity tags of pages that the caller has")
      ]
    }
  },
  schema: (operation, { resource: { model } }) => ({
    summary: `Get the JSON schema (draft-04) of ${model.modelName}`,
    ...withResponses(operation, { 200: { description: "The JSON schema" } }),
    parameters: queryOf(schemaParameters)
  }),
  meta: (operation, { resource: { model } }) => ({
    summary: `Get what a user interface needs to know of the fields of ${model.modelName}`,
    ...withResponses(operation, { 200: { description: "The fields, by their names" } })
  }),
  create: (operation, context) => {
    const takesLists = context.resource.lists !== false
    const onlyCreates = (context.resource.onKnownId ?? context.limits.onKnownId) === "error"
    const whenKnown = onlyCreates ? "the answer is 409" : "that one is replaced"
    const { 200: replaced, ...responses } = Document.nodeOf(operation["responses"])
    return writing({ ...operation, responses: onlyCreates ? responses : { ...responses, 200: replaced } }, context, {
      summary: `Create ${withArticle(context.resource.model.modelName)}`,
      description: `When the body carries the id of a document that is there, ${whenKnown}.${
        takesLists ? " Of a list, all are created or none; preferences and preconditions are not for lists." : ""
      }`,
      types: ["application/json", "multipart/form-data"],
      texts: takesLists && context.resource.tables !== undefined ? tableTypes : [],
      takesLists,
      responses: {
        201: {
          description: takesLists ? "It was created; of a list, all were" : "It was created",
          headers: { Location: location }
        },
        ...onlyCreates ? {} : { 200: { description: "The document with this id was replaced" } }
      }
    })
  },
  replace: (operation, context) =>
    writing(operation, context, {
      summary: `Replace ${withArticle(context.resource.model.modelName)}`,
      types: ["application/json"],
      responses: { 200: { description: "It was replaced" } }
    }),
  patch: (operation, context) =>
    writing(operation, context, {
      summary: `Change ${withArticle(context.resource.model.modelName)}`,
      description: "A JSON merge patch (RFC 7396), in which `null` removes a field that is optional, or a JSON Patch " +
        "(RFC 6902). What is not named stays.",
      types: ["application/json", "application/merge-patch+json", "application/json-patch+json"],
      responses: { 200: { description: "It was changed" } }
    }),
  delete: (operation, { resource }) => ({
    summary: `Delete ${withArticle(resource.model.modelName)}`,
    ...withResponses(operation, {
      200: {
        description: "How many were deleted",
        ...isLogged(resource.model) ? { headers: transactionOf(resource.model) } : {}
      }
    }),
    parameters: [
      ...Document.listOf(operation["parameters"]),
      ...askedBy(resource, "purge", History.purgeParameters)
    ]
  })
}

/** The parameters by which the endpoint is asked to be an action that the resource has. */
const askedBy = ({ calls = [] }: Resource, name: History.Name, parameters: AnyParameters): ReadonlyArray<Node> =>
  calls.some(({ options = {} }) => History.nameOf(options) === name)
    ? queryOf(parameters).map((parameter) => ({ ...parameter, required: false }))
    : []

/** Completes a write of many documents, which preferences select the answer of. */
const ofMany = (
  operation: Node,
  { hidden, known, resource: { model } }: DescriptionContext,
  { description, done, hasFilter, summary }: {
    readonly summary: string
    readonly description: string
    readonly done: string
    readonly hasFilter: boolean
  }
): Node => {
  const { content } = Document.nodeOf(operation["requestBody"])
  const one = Document.nodeOf(Document.nodeOf(content)["application/json"])
  const own = { ...transactionOf(model), "Preference-Applied": manyApplied }
  const { 200: all, ...others } = Document.nodeOf(operation["responses"])
  return withResponses(
    {
      summary,
      description:
        `${description} All are written, or none: then the error has the id of the document that can't be written in \`document\`. With \`Prefer: handling=lenient\` each is written by itself.`,
      ...operation,
      responses: { 200: all, ...others },
      ...(content === undefined ? {} : {
        requestBody: {
          required: true,
          content: !hasFilter ? content : {
            "application/json": one,
            "application/merge-patch+json": {
              schema: Document.listOf(Document.nodeOf(one["schema"])["anyOf"]).at(-1) ?? one["schema"]
            },
            "application/json-patch+json": { schema: known.jsonPatch }
          }
        }
      }),
      parameters: [
        ...Document.listOf(operation["parameters"]),
        ...hasFilter
          ? [
            ...queryOf(manyParameters),
            ...queryOf(collectionParameters(model)).filter(({ name }) => name === "query" || name === "logic"),
            ...filters(model, hidden)
          ]
          : [],
        manyPrefer
      ]
    },
    {
      200: { description: done, headers: own },
      204: { description: "They were, and `Prefer` has `return=minimal`", headers: own },
      207: { description: "Each with the status of its write, and its error", headers: own }
    }
  )
}

const segmentOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

/** Joins the schemas of lists of complete and of partial documents into the schema of one list of either. */
const joinedLists = (schema: Node): Node => {
  const lists = Document.listOf(schema["anyOf"]).map(Document.nodeOf)
  const [whole = schema] = lists
  const itemsOf = (list: Node) => Document.nodeOf(Document.nodeOf(list["properties"])["_items"])["items"]
  return itemsOf(whole) === undefined ? schema : {
    ...whole,
    properties: {
      ...Document.nodeOf(whole["properties"]),
      _items: { type: "array", items: { anyOf: lists.map(itemsOf) } }
    }
  }
}

/** Adds the types of tables to the first response. */
const withTables = (operation: Node, hasTables: boolean): Node => {
  const { content } = Document.nodeOf(Document.nodeOf(operation["responses"])["200"])
  const tables = tableTypes.map((type) => [type, { schema: { type: "string" } }] as const)
  return hasTables
    ? withResponses(operation, { 200: { content: { ...Document.nodeOf(content), ...Object.fromEntries(tables) } } })
    : operation
}

const tableText =
  "As `text/csv` and `application/x-ndjson`, by `Accept`, it is all documents of the conditions and no page: " +
  "without `page`, `page_size`, `cursor` and `count`."

/** Adds details to an operation's responses. */
const withResponses = (operation: Node, details: { readonly [status: string]: Node }): Node => {
  const responses = Document.nodeOf(operation["responses"])
  return {
    ...operation,
    responses: {
      ...responses,
      ...Document.mapValues(details, (response, status) => ({
        ...Document.nodeOf(responses[status]),
        ...Document.nodeOf(response)
      }))
    }
  }
}

/** Completes a write: its input, and its response, which the caller selects (RFC 7240). */
const writing = (
  operation: Node,
  { expandable, known, resource: { methods, model } }: DescriptionContext,
  { responses, description, summary, takesLists = false, texts = [], types }: {
    readonly summary: string
    readonly description?: string
    readonly types: ReadonlyArray<string>
    /** The types that are texts. */
    readonly texts?: ReadonlyArray<string>
    readonly takesLists?: boolean
    readonly responses: { readonly [status: string]: { readonly description: string; readonly headers?: Node } }
  }
): Node => {
  const { content: bodies } = Document.nodeOf(operation["requestBody"])
  const one = Document.nodeOf(Document.nodeOf(bodies)["application/json"])
  const json = takesLists
    // No value is both; generators declare one type twice for `oneOf`.
    ? {
      ...one,
      schema: {
        anyOf: [one["schema"], { type: "array", items: one["schema"], minItems: 1, maxItems: maxItemsOf(model) }]
      }
    }
    : one
  const bodyOf = (type: string) =>
    type === "application/json" ? json : type === "application/json-patch+json" ? { schema: known.jsonPatch } : one
  const own = {
    ...isVersioned(model) ? { ETag: etag } : {},
    ...methods?.includes("GET") === true ? { "Content-Location": contentLocation } : {},
    ...transactionOf(model)
  }
  const answered = Document.nodeOf(operation["responses"])
  const contentOf = (status: string) => ({
    "application/json": {
      schema: { oneOf: complete(answered[status]).slice(0, takesLists && status === "201" ? 3 : 2) }
    }
  })
  return withResponses(
    {
      summary,
      ...(description === undefined ? {} : { description }),
      ...operation,
      parameters: [
        ...Document.listOf(operation["parameters"]),
        ...queryOf(
          { expand: documentParameters.expand },
          methods?.includes("GET") === true ? expandParameter(expandable) : {}
        ),
        prefer
      ],
      requestBody: {
        required: true,
        content: {
          ...Document.nodeOf(bodies),
          ...Object.fromEntries(types.map((type) => [type, bodyOf(type)])),
          ...Object.fromEntries(texts.map((type) => [type, { schema: { type: "string" } }]))
        }
      }
    },
    Record.map(responses, ({ description, headers }, status) => ({
      description,
      headers: { ...headers, ...own, "Preference-Applied": applied },
      content: contentOf(status)
    }))
  )
}

/** What a write may answer; documents that lack fields, which some callers get, come last. */
const complete = (response: unknown): ReadonlyArray<unknown> => {
  const json = Document.nodeOf(Document.nodeOf(Document.nodeOf(response)["content"])["application/json"])
  return Document.listOf(Document.nodeOf(json["schema"])["anyOf"])
}

const isVersioned = (model: Model.Any): boolean => managedField(model, "version") !== undefined

const prefer = Document.header("Prefer", "`return=representation` to be answered the document itself (RFC 7240)", {
  type: "string",
  examples: ["return=representation"]
})

const manyPrefer = Document.header(
  "Prefer",
  "`handling=lenient` to write each document by itself, `return=representation` to be answered the documents, " +
    "`return=minimal` for no body (RFC 7240)",
  { type: "string", examples: ["handling=lenient"] }
)

const manyApplied = Document.responseHeader("The preference that was followed, where there was one", {
  type: "string",
  enum: [
    "handling=lenient",
    "return=representation",
    "handling=lenient, return=representation",
    "return=minimal"
  ]
})

const applied = Document.responseHeader("The preference that was followed, where there was one", {
  type: "string",
  enum: ["return=representation", "return=minimal"]
})

const totalCount = Document.responseHeader(
  "How many documents fulfil the conditions, where they were counted (`count=exact`) or estimated (`count=estimated`)",
  { type: "integer" }
)

const unreadableCount = Document.responseHeader(
  "How many documents of the page are left out, since they do not fit the model",
  { type: "integer" }
)

const streamHeaders: Node = {
  "Stream-Next-Offset": Document.responseHeader("The place after these changes"),
  "Stream-Up-To-Date": Document.responseHeader("Whether these are the last changes", {
    type: "string",
    enum: ["true"]
  }),
  "Stream-Cursor": Document.responseHeader("What the next request that waits sends as `cursor`")
}

const streamTag = Document.responseHeader("A tag of a page, for `If-None-Match`, where the request does not wait")

/** The response header that identifies a write's changes. */
const transactionOf = (model: Model.Any): Node =>
  isLogged(model) ? { "Stream-Txid": Document.responseHeader("The `txid` of the messages of the write's changes") } : {}

const location = Document.responseHeader("Where the new document is, where it is one")

const contentLocation = Document.responseHeader(
  "Where the document is that is the body, with the preference `return=representation`"
)

const etag = Document.responseHeader("A digest of the document, for `If-Match` and `If-None-Match`")

const requiredEtag: Node = { ...etag, required: true }

/** Adds the precondition headers to an operation that may fail by them (RFC 9110, section 13). */
const conditional = (operation: Node, method: string, { model }: Resource): Node => {
  const responses = Document.nodeOf(operation["responses"])
  if (!("412" in responses)) return operation
  const parameters = Document.listOf(operation["parameters"])
  // A state of before has none.
  const mayBeEarlier = parameters.some((parameter) => Document.nodeOf(parameter)["name"] === "as_of")
  const headersOf = (tag: Node) => isVersioned(model) ? { headers: { ETag: tag } } : {}
  const conditions = [
    Document.header("If-Match", "Entity tags, one of which the document must have, or `*`", entityTags),
    ifNoneMatch("Entity tags of which the document must have none, or `*`")
  ]
  const withConditions = { ...operation, parameters: [...parameters, ...conditions] }
  return method !== "GET"
    ? withConditions
    : withResponses(withConditions, {
      200: headersOf(mayBeEarlier ? etag : requiredEtag),
      304: { description: statusTexts["304"], ...headersOf(requiredEtag) }
    })
}
