/** The parameters of standard operations: of the query, and of headers. */
import * as Schema from "effect/Schema"
import { isAmongFields, type ModelLike, nestedModel } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { maxFields, maxSortFields } from "../description/limits.ts"
import { type AnyParameters, collectionParameters } from "../description/queryParameters.ts"
import type { Limits } from "../KernelConfig.ts"
import { stageNames } from "../query/pipelineGuard.ts"
import * as QueryFields from "../query/queryFields.ts"
import type { Relation } from "../registration/relations.ts"
import type { Known, Resource } from "./componentSchemas.ts"
import * as Document from "./node.ts"
import { parameterTexts } from "./parameterTexts.ts"

type Node = Document.Node

/** The input for the completion of a standard operation. */
export interface DescriptionContext {
  readonly resource: Resource
  readonly limits:
    & Pick<Limits, "defaultPageSize" | "maxPageSize">
    & Partial<Pick<Limits, "skipUnreadable" | "onKnownId" | "maxExpandDepth">>
  /** The paths that can be expanded. */
  readonly expandable: ReadonlyArray<string>
  readonly known: Known
  /** The fields that the document leaves out, as dotted paths. */
  readonly hidden: ReadonlyArray<string>
}

/** The parameters of a query as the table describes them, with what `more` says of their values. */
export const queryOf = (
  parameters: AnyParameters,
  more: { readonly [name: string]: Node } = {},
  texts = parameterTexts
): ReadonlyArray<Node> =>
  Object.entries(parameters).flatMap(([name, parameter]) => {
    const { isRequired: required = false } = parameter
    const own = { name, in: "query", description: texts[name], required }
    if (name === "expand") return more[name] === undefined ? [] : [{ ...own, ...more[name] }]
    const json = jsonOf.get(name)
    return json === undefined
      ? [{ ...own, schema: { ...valueOf(parameter), ...more[name] } }]
      : [{ ...own, content: { "application/json": { schema: json } } }]
  })

/** The parameters whose texts are JSON. */
const jsonOf: ReadonlyMap<string, Node> = new Map<string, Node>([
  ["query", { type: "object" }],
  ["pipe", {
    type: "array",
    items: { type: "object", minProperties: 1, maxProperties: 1, propertyNames: { enum: stageNames } }
  }]
])

/** The parameters of every collection. */
export const describedPageParameters = (
  { expandable, hidden, limits, resource: { model } }: DescriptionContext
): ReadonlyArray<Node> =>
  queryOf(collectionParameters(model, limits), {
    sort_by: sortableFields(model, hidden),
    fields: fieldsParameter(model, hidden),
    ...expandParameter(expandable)
  })

/** What is said of `expand`; nothing, so that there is no such parameter, without anything to expand. */
export const expandParameter = (paths: ReadonlyArray<string>): { readonly [name: string]: Node } =>
  paths.length === 0 ? {} : {
    expand: { style: "form", explode: false, schema: { type: "array", items: { type: "string", enum: paths } } }
  }

/** The paths from a model's documents that can be expanded, the shortest first: {@link maxExpandable} at most. */
export const expandablePaths = (
  model: Model.Any,
  { depth, hiddenOf, relations }: {
    readonly depth: number
    readonly relations: (model: Model.Any) => ReadonlyArray<Relation>
    readonly hiddenOf: (model: Model.Any) => ReadonlyArray<string>
  }
): ReadonlyArray<string> => {
  const found: Array<string> = []
  let level: ReadonlyArray<{ readonly prefix: string; readonly model: Model.Any }> = [{ prefix: "", model }]
  for (let i = 0; i < depth && found.length < maxExpandable; i++) {
    level = level.flatMap(({ model, prefix }) =>
      relations(model).flatMap(({ name, referring, target }) =>
        (referring === undefined && QueryFields.of(model).field(name) === undefined) ||
          isAmongFields(name, hiddenOf(model)) ||
          referring !== undefined && isAmongFields(referring.field, hiddenOf(target.model))
          ? []
          : [{ prefix: `${prefix}${name}.`, model: target.model }]
      )
    )
    found.push(...level.map(({ prefix }) => prefix.slice(0, -1)))
  }
  return found.slice(0, maxExpandable)
}

const maxExpandable = 100

/** The type of a parameter's value, besides its text. */
const valueOf = ({ byDefault, schema }: AnyParameters[string]): Node => {
  const { schema: value } = Schema.toJsonSchemaDocument(Schema.toType(schema))
  const { allOf, ...own } = Document.nodeOf(value)
  const parts = Document.listOf(allOf).flatMap((part) => Object.entries(Document.nodeOf(part)))
  const { maximum, ...merged } = { ...own, ...Object.fromEntries(parts) }
  return {
    ...merged,
    // The other bound is that of every integer.
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
    ...(byDefault === undefined ? {} : { default: byDefault })
  }
}

/** A list of names of the model's fields, within the server's limit. */
const listed = (
  model: Model.Any,
  hidden: ReadonlyArray<string>,
  sign: string,
  maximum: number,
  has: (field: QueryFields.QueryField) => boolean
): Node => {
  const access = QueryFields.of(model)
  const names = shownIn(model, hidden).filter((name) => {
    const field = access.field(name)
    return field !== undefined && has(field) && !/[,\s]/u.test(name)
  })
  const name = `${sign}(?:${names.map(escaped).join("|")})`
  return { type: "string", ...(names.length === 0 ? {} : { pattern: `^${name}(?:,${name}){0,${maximum - 1}}$` }) }
}

const escaped = (name: string): string => name.replaceAll(/[\^$\\.*+?()[\]{}|/]/gu, String.raw`\$&`)

const sortableFields = (model: Model.Any, hidden: ReadonlyArray<string>): Node =>
  listed(model, hidden, "-?", maxSortFields, ({ sortable }) => sortable)

export const fieldsParameter = (model: Model.Any, hidden: ReadonlyArray<string>): Node =>
  listed(model, hidden, "", maxFields, ({ selectable }) => selectable)

export const filters = (model: Model.Any, hidden: ReadonlyArray<string>): ReadonlyArray<Node> => {
  const access = QueryFields.of(model)
  const others = collectionParameters(model)
  return shownIn(model, hidden).flatMap((name) => {
    const field = access.field(name)
    const isFilter = field !== undefined && !Object.hasOwn(others, name) &&
      (!field.isDocument || field.isList || field.mayBeMissing)
    return isFilter ? [Document.optional("query")(name, `A condition on \`${name}\``, { type: "string" })] : []
  })
}

const shownIn = (model: Model.Any, hidden: ReadonlyArray<string>): ReadonlyArray<string> =>
  namesIn(model, "", [model]).filter((name) => !isAmongFields(name, hidden))

/** Names stop at a recursive reference. */
const namesIn = (model: ModelLike, prefix: string, outer: ReadonlyArray<ModelLike>): ReadonlyArray<string> =>
  Object.keys(model.wire.fields).filter((key) => key in model.store.fields).flatMap((key) => {
    const inner = nestedModel(model.store.fields[key])
    const below = inner === undefined || outer.includes(inner)
      ? []
      : namesIn(inner, `${prefix}${key}.`, [...outer, inner])
    return [`${prefix}${key}`, ...below]
  })
