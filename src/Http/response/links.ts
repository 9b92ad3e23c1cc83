/** Hypermedia links. Their constant parts are prepared at registration. */
import { memoize } from "effect/Function"
import type { ModelView } from "../../Access/internal.ts"
import { BoundedCache } from "../../internal/boundedCache.ts"
import { escaped, quote } from "../../internal/json.ts"
import { fileFieldsOf, isModelLike, modelTypeId } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import type { Document, Filter } from "../../Repository/DocumentStore.ts"
import type { PermittedLinks } from "../../Repository/internal.ts"
import { identifierOf, isMarkedDeleted } from "../../Repository/internal.ts"
import { partFields } from "../description/operationEndpoint.ts"
import { encoded } from "../description/pathShape.ts"
import * as History from "../History.ts"
import type { Parameters } from "../query/urlQuery.ts"
import type { ResourceInfo } from "../registration/registration.ts"

/** Writes the member `_links` of a document, with a trailing comma. Returns an empty text if links are disabled. */
type DocumentLinks = (id: unknown, document: Document) => string

/** The links that a caller gets. */
export interface CallerLinks {
  readonly of: DocumentLinks
  /** Whether the links depend on the fields of the document. */
  readonly dependOnDocument: boolean
}

/** The links of a resource's documents. */
export interface ResourceLinks {
  /** The links to everything that is registered. */
  readonly all: CallerLinks
  /** The links to the endpoints that a caller may use. */
  readonly by: (permitted: PermittedLinks) => CallerLinks
}

/** The endpoints that the links of a document list: the registered methods, and the actions. */
export const linkedEndpoints = (
  { calls, methods }: Pick<ResourceInfo, "calls" | "methods">
): ReadonlyArray<{ readonly name: string; readonly isOperation: boolean }> => [
  ...methods.map((name) => ({ name, isOperation: false })),
  ...calls.map(({ name }) => ({ name, isOperation: true }))
]

/**
 * The links of a resource's documents: `self` with the registered methods, `collection` if it has `GET`, with the methods of
 * many documents, one for each action with its method and the names of its arguments, and one for each reference to a
 * registered model by the name of its field. A caller's links list only endpoints that the caller may use. They omit the fields that `view` hides from the
 * arguments of an action that takes the model. There are none if the registration disables links. A document with the field
 * `deletedField` has the links of a deleted one.
 */
export const ofResource = (resource: LinkedResource, view?: LinkedView, deletedField?: string): ResourceLinks => {
  if (!resource.enableHateoas) return none
  const everything = linkedEndpoints(resource).map(() => true)
  const readIndex = resource.methods.indexOf("GET")
  const known = new BoundedCache<CallerLinks>(maxLinks)
  const listing = (isListed: ReadonlyArray<boolean>, hasCollection: boolean): CallerLinks =>
    known.getOrMake([hasCollection, ...isListed].map(Number).join(""), () => ({
      of: linksOfState(resource, view, isListed, hasCollection),
      dependOnDocument: false
    }))
  const linksOfState: LinksTo = deletedField === undefined ? linksTo : (resource, view, isListed, hasCollection) => {
    const ofLive = linksTo(resource, view, isListed, hasCollection)
    const ofDeleted = linksTo(resource, view, isListed, hasCollection, true)
    return (id, document) => isMarkedDeleted(document, deletedField) ? ofDeleted(id, document) : ofLive(id, document)
  }
  const linksBy = ({ endpoints, matcher }: PermittedLinks): CallerLinks => {
    const hasCollection = readIndex >= 0 && endpoints[readIndex] !== false
    const filters = [...new Set(endpoints.filter((permitted) => typeof permitted === "object"))]
    if (filters.length === 0) return listing(endpoints.map((permitted) => permitted === true), hasCollection)
    return {
      of: dependentLinks(endpoints, filters, filters.map(matcher), (isListed) => listing(isListed, hasCollection).of),
      dependOnDocument: true
    }
  }
  return {
    all: { of: linksOfState(resource, view, everything, readIndex >= 0), dependOnDocument: false },
    // Requests with the same row filters share one object, by which the links are memoised.
    by: memoize(linksBy)
  }
}

const maxLinks = 64

/** The links that depend on the document: each lists the endpoints whose row filters match it. */
const dependentLinks = (
  endpoints: PermittedLinks["endpoints"],
  filters: ReadonlyArray<Filter>,
  matchers: ReadonlyArray<(document: Document) => boolean>,
  listing: (isListed: ReadonlyArray<boolean>) => DocumentLinks
): DocumentLinks => {
  const places = endpoints.map((permitted) => typeof permitted === "object" ? filters.indexOf(permitted) : permitted)
  const known = new Map<string, DocumentLinks>()
  return (id, document) => {
    let matches = ""
    for (const matcher of matchers) matches += matcher(document) ? "1" : "0"
    let links = known.get(matches)
    if (links === undefined) {
      links = listing(places.map((place) => typeof place === "number" ? matches[place] === "1" : place))
      known.set(matches, links)
    }
    return links(id, document)
  }
}

interface LinkedResource extends Pick<ResourceInfo, "calls" | "enableHateoas" | "methods" | "model" | "path"> {
  readonly references?: ReadonlyArray<LinkedReference> | undefined
  /** The methods that the collection has as well. Default to none. */
  readonly many?: ReadonlyArray<string> | undefined
}

/** A field that refers to documents of a registration. */
export interface LinkedReference {
  readonly field: string
  readonly model: Model.Any
  /** The path of the registration. */
  readonly path: string
}

/** Writes the links of references; none if the visible fields depend on the document, since a link tells the value. */
const referenceLinks = (
  references: ReadonlyArray<LinkedReference>,
  view: LinkedView | undefined,
  relations: ReadonlySet<string>
): ((document: Document) => string) | undefined => {
  const shown = references.filter(({ field }) =>
    !relations.has(field) && view?.dependsOnDocument !== true && view?.mask.isHidden(field) !== true
  ).map(({ field, model, path }) => ({
    field,
    head: `,${quote(field)}:{"href":"${encoded(path)}/`,
    ...identifierOf(model)
  }))
  if (shown.length === 0) return undefined
  return (document) => {
    let links = ""
    for (const { field, head, print } of shown) {
      const value = document[field]
      if (value === undefined || value === null || Array.isArray(value)) continue
      links += `${head}${segment(print(value))}","methods":"GET"}`
    }
    return links
  }
}

/** The links to the files of documents, by field; none of those whose visibility depends on the document. */
const fileLinks = (
  { methods, model }: Pick<LinkedResource, "methods" | "model">,
  view: LinkedView | undefined,
  isListed: ReadonlyArray<boolean>
): ReadonlyArray<readonly [field: string, text: string]> => {
  const has = (method: string) => isListed[methods.findIndex((name) => name === method)] === true
  return fileFieldsOf(model).flatMap(({ image, isList, name }) => {
    if (view?.dependsOnDocument === true || view?.mask.isHidden(name) === true) return []
    const isWritable = has("PATCH") && view?.mask.isUnwritable(name) !== true
    const own = isList
      ? isWritable ? ["POST"] : []
      : [...has("GET") ? ["GET"] : [], ...isWritable ? ["PUT", "DELETE"] : []]
    // The sizes of a picture: values of the parameter `size`.
    const sizes = own.includes("GET") && Object.keys(image).length > 0
      ? `,"sizes":${JSON.stringify(Object.keys(image))}`
      : ""
    return own.length === 0
      ? []
      : [[name, `/${encodeURIComponent(name)}","methods":${JSON.stringify(own)}${sizes}}`] as const]
  })
}

type LinkedView = Pick<ModelView, "dependsOnDocument" | "mask">

type LinksTo = (
  resource: LinkedResource,
  view: LinkedView | undefined,
  isListed: ReadonlyArray<boolean>,
  hasCollection: boolean,
  isDeleted?: boolean
) => DocumentLinks

/** Whether an action is for a document in its state: a deleted one can be restored and purged, and has its history. */
const isFor = (options: object, isDeleted: boolean): boolean => {
  const name = History.nameOf(options) ?? ""
  return ofAny.has(name) || name !== "deleted" && isDeleted === (name === "restore")
}

const ofAny: ReadonlySet<string> = new Set(["purge", "revisions", "revision", "revision_changes"])

/** The links to some of the endpoints. */
const linksTo: LinksTo = (
  { calls, many = [], methods, model, path, references = [] },
  view,
  isListed,
  hasCollection,
  isDeleted = false
) => {
  const base = encoded(path)
  const head = `"_links":{"self":{"href":"${base}/`
  const own = methods.filter((method, i) => isListed[i] && (!isDeleted || method === "GET"))
  const self = `${isDeleted ? "?deleted=include" : ""}","methods":${JSON.stringify(own)}}`
  const collection = isDeleted ? `${base}?deleted=only` : base
  const ofMany = isDeleted ? [] : many.filter((name) => isListed[methods.findIndex((method) => method === name)])
  const ofCollection = JSON.stringify(ofMany.length === 0 ? "GET" : ["GET", ...ofMany])
  const standard = hasCollection ? `${self},"collection":{"href":"${collection}","methods":${ofCollection}}` : self
  const listed = calls.filter(({ options }, i) => isListed[methods.length + i] && isFor(options, isDeleted))
  const relations = new Set(["self", "collection", ...calls.map(({ name, options }) => options.rel ?? name)])
  const referenceOf = referenceLinks(references, view, relations)
  const files = isDeleted ? [] : fileLinks({ methods, model }, view, isListed).filter(([name]) => !relations.has(name))
  if (listed.length === 0 && referenceOf === undefined && files.length === 0) {
    return (id) => `${head}${segment(id)}${standard}},`
  }
  const prefix = `${path}/:id`
  const actions = listed.map(({ method, name, options, path }) => {
    const parameter = History.parameterOf(options)
    const args = parameter !== undefined ? [] : [
      ...Object.keys(partFields(options.payload)).filter((field) =>
        !isOmitted(options.payload, field) && (options.payload !== model || view?.mask.isHidden(field) !== true)
      ),
      ...Object.keys(partFields(options.query))
    ]
    const template = path.slice(prefix.length).replaceAll(/:(\w+)/gu, "{$1}")
    // A URI template (RFC 6570) says that it is one, as HAL has it.
    const rest = JSON.stringify({
      methods: method,
      ...template.includes("{") ? { templated: true } : {},
      ...args.length === 0 ? {} : { args }
    }).slice(1)
    return [
      `,${quote(options.rel ?? name)}:{"href":"${base}/`,
      `${encoded(template)}${parameter === undefined ? "" : `?${parameter}=true`}",${rest}`
    ]
  })
  for (const [name, text] of files) actions.push([`,${quote(name)}:{"href":"${base}/`, text])
  return (id, document) => {
    const encodedId = segment(id)
    let links = `${head}${encodedId}${standard}${referenceOf === undefined ? "" : referenceOf(document)}`
    for (let i = 0; i < actions.length; i++) links += `${actions[i]![0]}${encodedId}${actions[i]![1]}`
    return `${links}},`
  }
}

/** No links, for registrations that disable them. */
export const none: ResourceLinks = { all: { of: () => "", dependOnDocument: false }, by: () => none.all }

/** Whether a payload is a model that omits the field from what is told of its documents. */
const isOmitted = (payload: unknown, field: string): boolean =>
  isModelLike(payload) && payload[modelTypeId][field]?.omitted === true

/** The URL of a document below the path, which is encoded. */
export const hrefOf = (path: string, id: unknown): string => `${path}/${segment(id)}`

/** A page by number, with what is known about the other pages. */
export interface NumberedPage {
  /** The page's number, from 1. */
  readonly page: number
  readonly pageSize: number
  /** The number of documents on all pages; `undefined` if they were not counted, and then there is no `last`. */
  readonly total?: number | undefined
  /** Whether there is a document after this page. Defaults to what `total` implies. */
  readonly hasNext?: boolean | undefined
}

/**
 * The `_links` of a page: `self`, and `first`, `prev`, `next`, `last` where they exist. Every other parameter of the
 * request keeps its position.
 */
export const ofPage = (
  path: string,
  parameters: Parameters,
  { hasNext, page, pageSize, total }: NumberedPage
): string => {
  const counted = total === undefined ? undefined : Math.max(1, Math.ceil(total / pageSize))
  // An estimated total may be too low.
  const last = counted === undefined || hasNext !== true ? counted : Math.max(counted, page + 1)
  const names = Object.keys(parameters)
  const [before, after] = otherParameters(names, parameters, "page")
  const [start, end] = [escaped(`${path}?${before}page=`), escaped(after)]
  const link = (number: number): string => `"${start}${number}${end}"`
  let links = `"_links":{"self":{"href":${names.length === 0 ? quote(path) : link(page)}}`
  if (total !== 0 || hasNext === true) {
    links += `,"first":{"href":${link(1)}}`
    if (page > 1) links += `,"prev":{"href":${link(last === undefined ? page - 1 : Math.min(page - 1, last))}}`
    if (hasNext ?? (last !== undefined && page < last)) links += `,"next":{"href":${link(page + 1)}}`
    if (last !== undefined) links += `,"last":{"href":${link(last)}}`
  }
  return `${links}}`
}

/**
 * The `_links` of a page that starts at a cursor: `self`, `first`, and `next` if there is a next page. Every other
 * parameter of the request keeps its position.
 */
export const ofCursor = (path: string, parameters: Parameters, next: string | undefined): string => {
  const [before, after] = otherParameters(Object.keys(parameters), parameters, "cursor")
  const link = (cursor: string): string => quote(`${path}?${before}cursor=${cursor}${after}`)
  const current = parameters["cursor"]
  const links = `"_links":{"self":{"href":${
    link(typeof current === "string" ? segment(current) : "")
  }},"first":{"href":${link("")}}`
  return next === undefined ? `${links}}` : `${links},"next":{"href":${link(next)}}}`
}

// internal

const unreserved = /^[\w.~-]*$/u

const segment = (id: unknown): string => {
  const text = String(id).toWellFormed()
  return unreserved.test(text) ? text : encodeURIComponent(text)
}

/** The parameters before and after the changing one, each with its separator. */
const otherParameters = (
  names: ReadonlyArray<string>,
  parameters: Parameters,
  changing: string
): readonly [string, string] => {
  let before = ""
  let after = ""
  let isAfter = false
  for (const name of names) {
    if (name === changing) {
      isAfter = true
      continue
    }
    const values = parameters[name]
    for (const value of typeof values === "string" ? [values] : values ?? []) {
      const pair = `${segment(name)}=${segment(value)}`
      if (isAfter) after += `&${pair}`
      else before += `${pair}&`
    }
  }
  return [before, after]
}
