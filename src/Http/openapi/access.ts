/**
 * What the document says of access control: who may call an operation, and which fields not every caller may see or set.
 */
import { getOrMake } from "@appkernel/document-store/internal"
import { isAmongFields, managedField, type ModelLike, nestedModel } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { type Entry, nobody } from "../AccessPolicy.ts"
import * as Json from "./node.ts"
import { statusTexts } from "./texts.ts"

type Node = Json.Node

/** The rules by endpoint; `undefined` for an endpoint that no registration has. */
export type AdmittingEntries = ReadonlyMap<string, ReadonlyArray<Entry>>

/** The rules that admit somebody. */
export const admittingEntries = (entries: ReadonlyArray<Entry>): AdmittingEntries => {
  const found = new Map<string, Array<Entry>>()
  for (const entry of entries) {
    const own = getOrMake(found, entry.endpoint, () => [])
    if (entry.who !== nobody) own.push(entry)
  }
  return found
}

/** The variants of a model, as in `modelSchemas`. */
type Form = "wire" | "create" | "patch"

/** The rules for the fields of all models. */
export interface FieldRules {
  /** Who may see or set the field and its parts, as sentences. */
  readonly textOf: (model: Model.Any, form: Form, name: string) => string | undefined
  /** Whether some caller may not see or set the field. */
  readonly isPartial: (model: Model.Any, form: Form, name: string) => boolean
  /** Whether the field is left out. */
  readonly isHidden: (model: Model.Any, form: Form, name: string) => boolean
  /** The fields of a resource's documents that are left out, as dotted paths. */
  readonly hiddenOf: (model: Model.Any) => ReadonlyArray<string>
}

/** A field of a registration, whose holders may see or set it. */
interface Found {
  readonly form: Form
  readonly name: string
  readonly path: string
  readonly text: string
  readonly isGranted: boolean
}

/** The rules for fields. `omits`: whether a field that nobody may see or set is left out, or said to be so. */
export const fieldRules = (
  resources: ReadonlyArray<{ readonly model: Model.Any; readonly path: `/${string}` }>,
  entries: AdmittingEntries,
  omits: boolean
): FieldRules => {
  const byModel = new Map<Model.Any, Array<Found>>()
  const paths = new Map<Model.Any, number>()
  for (const { model, path } of resources) {
    paths.set(model, (paths.get(model) ?? 0) + 1)
    const at = (method: string, own: string) => entries.get(`${method} ${path}${own}`)
    // Without `GET` there may be a schema nevertheless.
    const entriesFor = (method: string) => at(method, "") ?? at(method, "/:id") ?? at(method, "/schema") ?? []
    const on = (...methods: ReadonlyArray<string>) => methods.map((method) => ({ method, entries: entriesFor(method) }))
    const found = [
      ...readable(entriesFor("GET")),
      ...writable("create", on("POST", "PUT")).filter(({ name }) => !name.includes(".")),
      // Models within lists of a patch are whole ones.
      ...writable("create", on("POST", "PUT", "PATCH")).filter(({ name }) => name.includes(".")),
      ...writable("patch", on("PATCH")),
      ...(omits && entriesFor("GET").length === 0 ? unreadable(model) : [])
    ].map((one) => ({ ...one, path }))
    byModel.set(model, [...byModel.get(model) ?? [], ...found])
  }
  const partial = new Set<string>()
  const hidden = new Set<string>()
  const models = new Map<ModelLike, number>()
  const keyOf = (model: ModelLike, form: Form, name: string): string => {
    const number = models.get(model) ?? models.size
    models.set(model, number)
    return `${number} ${form} ${name}`
  }
  const hiddenNames = new Map<Model.Any, ReadonlyArray<string>>()
  for (const [model, found] of byModel) {
    for (const { form, name } of found) {
      const at = placeOf(model, name)
      if (at === undefined) continue
      partial.add(keyOf(at.model, form, at.name))
      if (omits && isHiddenIn(found, form, name, paths.get(model))) hidden.add(keyOf(at.model, form, at.name))
    }
    const ofDocuments = found.filter(({ form, name }) =>
      form === "wire" && isHiddenIn(found, form, name, paths.get(model))
    )
    hiddenNames.set(model, omits ? [...new Set(ofDocuments.map(({ name }) => name))] : [])
  }
  return {
    textOf: (model, form, name) =>
      omits ? undefined : accessText(
        (byModel.get(model) ?? []).filter((one) => one.form === form && isAmongFields(one.name, [name])),
        name,
        paths.get(model) ?? 0
      ),
    isPartial: (model, form, name) => partial.has(keyOf(model, form, name)),
    isHidden: (model, form, name) => hidden.has(keyOf(model, form, name)),
    hiddenOf: (model) => hiddenNames.get(model) ?? []
  }
}

/**
 * Adds to an operation who may call it, with which credentials, and the responses of those who may not. An operation without
 * a rule of its own has the credentials of its middleware.
 */
export const withAccess = (
  { security, ...operation }: Node,
  entries: ReadonlyArray<Entry> | undefined,
  { errorMessage, requirements }: {
    readonly requirements: ReadonlyArray<Node>
    readonly errorMessage: Node
  }
): Node => {
  if (Json.listOf(security).length > 0) return { ...operation, security }
  if (entries === undefined) return operation
  const responses = Json.nodeOf(operation["responses"])
  const isOpen = entries.some(({ credentials }) => credentials !== "required")
  const isForAll = entries.length > 0 && entries.every(({ credentials }) => credentials === "none")
  const content = { "application/json": { schema: errorMessage } }
  const missing = (status: "401" | "403" | "503"): Node =>
    status in responses ? {} : { [status]: { description: statusTexts[status], content } }
  const all = { ...responses, ...missing("401"), ...missing("503"), ...(isOpen ? {} : missing("403")) }
  return {
    ...operation,
    description: [operation["description"], whoText(entries)].filter((text) => typeof text === "string")
      .join("\n\n"),
    responses: { ...all, 401: { headers: { "WWW-Authenticate": challenge }, ...Json.nodeOf(all["401"]) } },
    ...(isForAll ? { security: [] } : isOpen ? { security: [...requirements, {}] } : {})
  }
}

// internal

const challenge = Json.responseHeader("How to identify oneself")

const whoText = (entries: ReadonlyArray<Entry>): string =>
  entries.length === 0 ?
    "Nobody may do this." :
    `Who may do this: ${
      [
        ...new Set(
          entries.map(({ check, rows, who }) => [rows, check].some(isCondition) ? `${who} (some documents)` : who)
        )
      ]
        .join("; ")
    }.`

/** What a condition says is not for callers. */
const isCondition = (rows: string): boolean => !["all", "-", "the caller's"].includes(rows)

type Part = Omit<Found, "path">

const readable = (entries: ReadonlyArray<Entry>): ReadonlyArray<Part> =>
  namesOf(entries, ({ hidden }) => hidden).map((name) => {
    const holders = entries.filter(({ hidden }) => !isAmongFields(name, hidden))
    return { form: "wire", name, text: `visible to ${wordsOf(holders)}`, isGranted: holders.length > 0 }
  })

/** Without a right to read, no document is shown. */
const unreadable = (model: Model.Any): ReadonlyArray<Part> =>
  Object.keys(model.wire.fields).filter((name) => name !== managedField(model, "id") && name !== "_type").map((
    name
  ) => ({
    form: "wire",
    name,
    text: "",
    isGranted: false
  }))

const writable = (
  form: "create" | "patch",
  methods: ReadonlyArray<{ readonly method: string; readonly entries: ReadonlyArray<Entry> }>
): ReadonlyArray<Part> => {
  const used = methods.filter(({ entries }) => entries.length > 0)
  return namesOf(used.flatMap(({ entries }) => entries), keptBy).map((name) => {
    const held = used.map(({ entries, method }) => ({
      method,
      holders: entries.filter((entry) => !isAmongFields(name, keptBy(entry)))
    }))
    const byHolders = Map.groupBy(held, ({ holders }) => wordsOf(holders))
    const text = Array.from(
      byHolders,
      ([words, same]) =>
        `set by ${words}${byHolders.size === 1 ? "" : ` with ${same.map(({ method }) => method).join(" and ")}`}`
    ).join(", ")
    return { form, name, text, isGranted: held.some(({ holders }) => holders.length > 0) }
  })
}

const keptBy = ({ hidden, readOnly }: Entry): ReadonlyArray<string> => [...hidden, ...readOnly]

const namesOf = (
  entries: ReadonlyArray<Entry>,
  of: (entry: Entry) => ReadonlyArray<string>
): ReadonlyArray<string> => [...new Set(entries.flatMap(of))].toSorted()

const wordsOf = (entries: ReadonlyArray<Entry>): string =>
  entries.length === 0 ? nobody : [...new Set(entries.map(({ who }) => who))].join(", or ")

/** A field that some registration of its model shows is not left out. */
const isHiddenIn = (
  found: ReadonlyArray<Found>,
  form: Form,
  name: string,
  registrations: number | undefined
): boolean => {
  const own = found.filter((one) => one.form === form && one.name === name)
  return own.every(({ isGranted }) => !isGranted) && new Set(own.map(({ path }) => path)).size === registrations
}

const accessText = (found: ReadonlyArray<Found>, field: string, registrations: number): string | undefined => {
  if (found.length === 0) return undefined
  const sentences = Map.groupBy(
    found,
    ({ name, text }) => name === field ? `${text.charAt(0).toUpperCase()}${text.slice(1)}.` : `\`${name}\`: ${text}.`
  )
  return Array.from(
    sentences,
    ([sentence, same]) =>
      same.length === registrations
        ? sentence
        : `${sentence.slice(0, -1)} (${same.map(({ path }) => path).join(", ")}).`
  ).join(" ")
}

/** The model that has the last part of the name. */
const placeOf = (model: ModelLike, name: string): { readonly model: ModelLike; readonly name: string } | undefined => {
  const [key = "", ...rest] = name.split(".")
  if (rest.length === 0) return { model, name: key }
  const inner = nestedModel(model.store.fields[key])
  return inner === undefined ? undefined : placeOf(inner, rest.join("."))
}
