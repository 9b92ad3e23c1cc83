/** The data provider over the REST interface of a service. */
import type { Caller } from "../calls/caller.ts"
import { jsonOf } from "../calls/caller.ts"
import type { ActionDescription, FieldDescription, ResourceDescription, ServiceDescription } from "../Description.ts"
import {
  isJson,
  type Json,
  jsonList,
  jsonMember,
  jsonNumber,
  jsonObject,
  jsonText,
  textOf
} from "../description/json.ts"
import type {
  Filter,
  KernelDataProvider,
  KernelRecord,
  ManyResult,
  Page,
  Params,
  Revision
} from "../KernelDataProvider.ts"
import { KernelConflict, KernelError, KernelPartialWrite, KernelPartialWrites } from "../KernelError.ts"
import { followChanges, isFinal } from "./changes.ts"
import { csvOf } from "./csv.ts"
import { atFileField, chosenFiles, isFileField, writeFiles } from "./files.ts"
import { addFilter } from "./filters.ts"
import { isSameJson, mergePatch } from "./mergePatch.ts"

// oxlint-disable typescript/no-unnecessary-type-parameters -- the signatures are those of react-admin

/** What the provider is made with. */
export interface DataProviderOptions {
  readonly caller: Caller
  readonly described: () => Promise<ServiceDescription>
  /** The failure of a call of something that the caller is not shown. */
  readonly unknown: (message: string) => KernelError
  /** From how many matches on pages are not counted. */
  readonly countUpTo: number
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>
}

/** Makes the provider. All that a call of it sends is sent as who is signed in when it begins, or not at all. */
export const makeDataProvider = (options: DataProviderOptions): KernelDataProvider => {
  const lists: Lists = { cursors: new Map(), uncounted: new Set() }
  const providerOf = (caller: Caller) => providerWith({ ...options, caller }, lists)
  const members = Object.entries(providerOf(options.caller)).map(([name, member]: readonly [string, unknown]) => [
    name,
    typeof member === "function"
      ? (...args: ReadonlyArray<unknown>): unknown =>
        Reflect.apply(Reflect.get(providerOf(options.caller.ofNow()), name), undefined, args)
      : member
  ])
  // Each method has the type of that which it calls.
  return Object.fromEntries(members) as KernelDataProvider
}

/** What is known of the lists that were read. */
interface Lists {
  /** The cursors of the pages that were read, by what was asked. */
  readonly cursors: Map<string, Map<number, string>>
  /** What is too much to be counted at each page. */
  readonly uncounted: Set<string>
}

const providerWith = (
  { caller, countUpTo, described, unknown, wait }: DataProviderOptions,
  { cursors, uncounted }: Lists
): KernelDataProvider => {
  const resourceOf = async (name: string): Promise<ResourceDescription> =>
    (await described()).resources.find((one) => one.name === name) ??
      Promise.reject(unknown(`The service shows no resource ${name}`))

  const answered = (path: string, query: URLSearchParams, signal?: AbortSignal, accept?: string): Promise<Response> => {
    const headers = accept === undefined ? {} : { accept }
    return query.toString().length > maxQuery
      ? caller.send({ method: "POST", path: `${path}/query`, body: query, signal, headers, isRead: true })
      : caller.send({ path, query, signal, headers })
  }

  const list = async <T extends KernelRecord>(name: string, params: Params.List): Promise<Page<T>> => {
    const resource = await resourceOf(name)
    const { meta, pagination = { page: 1, perPage: 25 }, signal } = params
    const { page, perPage } = pagination
    const query = asked(resource, params)
    query.set("page_size", String(perPage))
    const key = `${name}?${query.toString()}`
    const conditions = `${name}?${JSON.stringify(params.filter ?? {})}`
    const count = meta?.count ?? (uncounted.has(conditions) ? "none" : "exact")
    const pages = cursors.get(key) ?? new Map<number, string>()
    const cursor = page === 1 ? "" : pages.get(page)
    const isFollowed = count === "none" && cursor !== undefined && takes(resource, "cursor")
    if (isFollowed) query.set("cursor", cursor)
    else {
      query.set("page", String(page))
      if (count !== "exact" && takes(resource, "count")) query.set("count", count)
    }
    const response = await answered(resource.path, query, signal).catch((error: unknown) => {
      // What a cursor was of may be gone.
      pages.clear()
      throw error
    })
    const body = jsonObject(await jsonOf(response))
    const items = jsonList(body["_items"])
    const next = jsonText(jsonObject(jsonObject(body["_links"])["next"])["href"])
    const following = next === undefined ? null : new URLSearchParams(next.split("?", 2)[1]).get("cursor")
    if (following !== null) {
      cursors.delete(key)
      cursors.set(key, pages.set(page + 1, following))
      if (cursors.size > maxLists) {
        for (const oldest of cursors.keys()) if (cursors.size > maxLists) cursors.delete(oldest)
      }
    }
    const total = response.headers.get("x-total-count")
    if (total !== null && Number(total) > countUpTo) uncounted.add(conditions)
    const data = items.map((item) => recordOf(item))
    return {
      // The service answers documents of this resource; what their fields are is the caller's to say.
      data: data as ReadonlyArray<KernelRecord> as Array<T>,
      ...total === null ? {} : { total: Number(total) },
      pageInfo: { hasNextPage: next !== undefined, hasPreviousPage: page > 1 },
      ...meta?.expand === undefined ? {} : { meta: { prefetched: await prefetchedOf(resource, items) } }
    }
  }

  const one = async <T extends KernelRecord>(path: string, options: { readonly signal?: AbortSignal | undefined } & {
    readonly query?: URLSearchParams | undefined
  } = {}): Promise<T> => {
    const response = await caller.send({ path, ...options })
    // As of lists.
    return withTag(recordOf(await jsonOf(response)), response) as T
  }

  const getOne = async <T extends KernelRecord>(name: string, { id, meta, signal }: Params.One) => {
    const resource = await resourceOf(name)
    const query = new URLSearchParams(meta?.deleted === true ? { deleted: "include" } : {})
    return { data: await one<T>(pathOf(resource, id), { query, signal }) }
  }

  const getMany = async <T extends KernelRecord>(name: string, { ids, signal }: Params.Many) => {
    const resource = await resourceOf(name)
    const distinct = [...new Set(ids)]
    const perPage = Math.min(maxIds, resource.maxPageSize ?? maxIds)
    if (!resource.may.list) {
      const found = await Promise.all(
        distinct.map((id) => one<T>(pathOf(resource, id), { signal }).catch((error: unknown) => missing(error)))
      )
      return { data: found.filter((record) => record !== undefined) }
    }
    const parts = Array.from(
      { length: Math.ceil(distinct.length / perPage) },
      (_, i) => distinct.slice(i * perPage, (i + 1) * perPage)
    )
    const found = await Promise.all(parts.map((part) =>
      list<T>(name, {
        filter: { id: part },
        pagination: { page: 1, perPage },
        meta: { count: "none" },
        signal
      })
    ))
    return { data: found.flatMap(({ data }) => data) }
  }

  const create = async <T extends KernelRecord>(name: string, { data }: Params.Create) => {
    const { fields, path } = await resourceOf(name)
    const sent = sentOf(fields.filter((field) => field.isSetOnCreate), data)
    const files = fields.filter((field) => isFileField(field) && chosenFiles(data, field).length > 0)
    const response = await caller.send({
      method: "POST",
      path,
      // Whoever names a new document means no other one.
      headers: { prefer: "return=representation", ...sent["id"] === undefined ? {} : { "if-none-match": "*" } },
      body: files.length === 0 ? sent : formOf(sent, data, files)
    }).catch((error: unknown) => Promise.reject(atFileField(error, files, data)))
    // As of lists.
    return { data: await writtenOf(response, data) as T }
  }

  /** The tag that a write is compared by. Documents of lists have none: theirs is that of the same version. */
  const tagOf = async (
    resource: ResourceDescription,
    id: string | number,
    previous: Json = {}
  ): Promise<string | undefined> => {
    const [tag, version] = [jsonText(previous["_etag"]), jsonNumber(previous["version"])]
    if (tag !== undefined || version === undefined || !resource.isVersioned || !resource.may.get) return tag
    const current = await one(pathOf(resource, id))
    if (current["version"] === version) return current._etag
    const error = new KernelError(412, `${resource.name} ${id} has been changed since it was read`)
    throw new KernelConflict(error, current, current._etag)
  }

  /** Writes a document; a refusal since it has changed says what it is now. */
  const write = (
    resource: ResourceDescription,
    id: string | number,
    { body, etag, method, path }: {
      readonly method: string
      readonly path: string
      readonly body?: Json
      readonly etag: string | undefined
    }
  ): Promise<Response> =>
    caller.send({
      method,
      path,
      body,
      headers: { prefer: "return=representation", ...etag === undefined ? {} : { "if-match": etag } }
    }).catch((error: unknown) => refused(resource, id, error))

  /** Fails as a write did or, if that is since the document has changed, with what it is now. */
  const refused = async (resource: ResourceDescription, id: string | number, error: unknown): Promise<never> => {
    if (!(error instanceof KernelError) || error instanceof KernelPartialWrite || error.status !== 412) throw error
    const current = await one(pathOf(resource, id)).catch((cause: unknown) => missing(cause))
    throw new KernelConflict(error, current, current?._etag)
  }

  const update = async <T extends KernelRecord>(name: string, { data, id, meta, previousData }: Params.Update) => {
    const resource = await resourceOf(name)
    const { fields, may, path } = resource
    if (!may.update && !may.replace) throw new KernelError(405, `Documents of ${name} can't be changed`)
    const written = fields.filter((field) => field.isSetOnUpdate)
    const at = pathOf(resource, id)
    const sent = sentOf(written, data, true)
    // A replacement needs the rest of the document.
    const previous = previousData ?? (may.update || !may.get ? undefined : await one(at))
    const before = sentOf(written, previous ?? {}, true)
    const whole = { ...before, ...sent }
    // What the caller has not given stays as it is.
    const patch = previous === undefined ? sent : mergePatch(onlyOf(before, sent), sent)
    const hasChanged = may.update
      ? Object.keys(patch).length > 0
      : previous === undefined || !isSameJson(before, whole)
    if (hasChanged && !may.update) {
      refuseLosses(name, previous === undefined ? unknownIn(written, whole) : unseenIn(written, whole))
    }
    const response = !hasChanged
      ? undefined
      : await write(resource, id, {
        etag: meta?.etag ?? await tagOf(resource, id, previous),
        ...may.update
          ? { method: "PATCH", path: at, body: patch }
          : resource.replacedBy === "POST"
          ? { method: "POST", path, body: { ...withoutNull(whole), id } }
          : { method: "PUT", path: at, body: withoutNull(whole) }
      })
    const isWritten = response !== undefined
    const current = () => may.get ? one(at) : Promise.resolve(undefined)
    const hasFiles = await writeFiles(caller, at, written, { current, data, isWritten, previous: previousData })
      .catch((error: unknown) => refused(resource, id, error))
    const record = response !== undefined && !hasFiles
      ? await writtenOf(response, { ...previous, ...data }, id)
      : may.get
      ? await one(at)
      : { ...data, id }
    // As of lists.
    return { data: record as T }
  }

  const many = async (
    resource: ResourceDescription,
    method: "PATCH" | "DELETE",
    filter: Filter,
    { body, dryRun = false }: { readonly body?: Json | undefined; readonly dryRun?: boolean } = {}
  ): Promise<ManyResult> => {
    const query = new URLSearchParams()
    const left = addFilter(query, filter, { search: resource.representation })
    // Without it, the write would be of other documents than those that are meant.
    if (left.length > 0) {
      throw new KernelError(400, `The filter has no condition for ${left.join(", ")}: only {} is of all documents`)
    }
    if (Object.keys(filter).length === 0) query.set("all", "true")
    if (dryRun) query.set("dry_run", "true")
    const ids = [...new Set(jsonList(filter["id"]).map(idOf).filter((id) => id !== undefined))]
    if (query.toString().length > maxQuery && ids.length > 1 && filter["$logic"] !== "OR") {
      const middle = Math.ceil(ids.length / 2)
      const [own, others] = [ids.slice(0, middle), ids.slice(middle)]
      const first = await many(resource, method, { ...filter, id: own }, { body, dryRun }).catch((error: unknown) =>
        Promise.reject(error instanceof KernelPartialWrites ? withPart(error, [], others) : error)
      )
      const rest = await many(resource, method, { ...filter, id: others }, { body, dryRun }).catch((error: unknown) =>
        Promise.reject(
          error instanceof KernelPartialWrites
            ? withPart(error, first.ids, [])
            : error instanceof KernelError && error.status !== 401 && !dryRun
            ? new KernelPartialWrites(error, first.ids, others)
            : error
        )
      )
      return { count: first.count + rest.count, ids: [...first.ids, ...rest.ids] }
    }
    const answer = jsonObject(await caller.json({ method, path: resource.path, query, body }))
    const found = jsonList(answer["ids"]).map(idOf).filter((id) => id !== undefined)
    return { count: jsonNumber(answer["count"]) ?? found.length, ids: found }
  }

  const updateMany = async (name: string, { data, ids }: Params.UpdateMany) => {
    const resource = await resourceOf(name)
    const body = sentOf(resource.fields.filter((field) => field.isSetOnUpdate), data, true)
    if (resource.may.updateMany && ids.length > 0) {
      return { data: [...(await many(resource, "PATCH", { id: ids }, { body })).ids] }
    }
    return { data: await each(ids, (id) => update(name, { id, data }), "left out") }
  }

  const remove = async <T extends KernelRecord>(name: string, { id, previousData }: Params.Delete) => {
    const resource = await resourceOf(name)
    const etag = await tagOf(resource, id, previousData)
    await write(resource, id, { method: "DELETE", path: pathOf(resource, id), etag })
    // What was there, as react-admin has it.
    return { data: { ...previousData, id } as T }
  }

  const runAt = async (
    { method, parameters, path }: ActionDescription,
    id: string | number | undefined,
    args: { readonly [name: string]: unknown }
  ): Promise<{ readonly data: unknown }> => {
    const query = new URLSearchParams()
    const body: { [name: string]: unknown } = {}
    const values = id === undefined ? args : { ...args, id }
    const named = new Set(Array.from(path.matchAll(/\{([^{}]+)\}/gu), ([, name]) => name))
    for (const [name, value] of Object.entries(args)) {
      if (value === undefined || named.has(name)) continue
      if (parameters.includes(name)) query.append(name, textOf(value))
      else body[name] = value
    }
    const filled = path.replaceAll(
      /\{([^{}]+)\}/gu,
      (_, name: string) => encodeURIComponent(String(jsonMember(values, name)))
    )
    const hasBody = method !== "GET" && method !== "DELETE" || Object.keys(body).length > 0
    const answer = await caller.json({ method, path: filled, query, ...hasBody ? { body } : {} })
    return { data: isJson(answer) && answer["_type"] === "OperationResult" ? answer["result"] : answer }
  }

  const provider: KernelDataProvider = {
    supportAbortSignal: true,
    getList: list,
    getOne,
    getMany,
    getManyReference: (resource, { filter, id, target, ...params }) =>
      list(resource, { ...params, filter: { ...filter, [target]: id } }),
    create,
    update,
    updateMany,
    delete: remove,
    deleteMany: async (name, { ids }) => {
      const resource = await resourceOf(name)
      if (resource.may.deleteMany && ids.length > 0) {
        return { data: [...(await many(resource, "DELETE", { id: ids })).ids] }
      }
      return { data: await each(ids, (id) => remove(name, { id }), "done") }
    },
    history: async (name, id, { before, pageSize } = {}) => {
      const query = new URLSearchParams()
      if (before !== undefined) query.set("before", String(before))
      if (pageSize !== undefined) query.set("page_size", String(pageSize))
      const answer = jsonObject(await caller.json({ path: `${pathOf(await resourceOf(name), id)}/revisions`, query }))
      const next = jsonText(jsonObject(jsonObject(answer["_links"])["next"])["href"])
      const place = next === undefined ? null : new URLSearchParams(next.split("?", 2)[1]).get("before")
      return {
        // The form of the entries is that of the service.
        data: jsonList(answer["_items"]) as ReadonlyArray<Revision>,
        ...place === null ? {} : { next: Number(place) }
      }
    },
    revision: async (name, id, revision) => ({
      data: await one(`${pathOf(await resourceOf(name), id)}/revisions/${revision}`)
    }),
    restore: async (name, id, revision) => {
      const at = pathOf(await resourceOf(name), id)
      const path = revision === undefined ? `${at}/restore` : `${at}/revisions/${revision}/restore`
      await caller.send({ method: "POST", path })
      return { data: await one(at) }
    },
    purge: async (name, id) => {
      const query = new URLSearchParams({ purge: "true" })
      await caller.send({ method: "DELETE", path: pathOf(await resourceOf(name), id), query })
    },
    runAction: async (name, action, id, args = {}) => {
      const { actions } = await resourceOf(name)
      const found = actions.find((one) => one.name === action)
      return found === undefined
        ? Promise.reject(new KernelError(404, `${name} has no action ${action}`))
        : runAt(found, id, args)
    },
    runOperation: async (name, args = {}) => {
      const found = (await described()).operations.find((one) => one.name === name)
      return found === undefined
        ? Promise.reject(unknown(`The service shows no operation ${name}`))
        : runAt(found, undefined, args)
    },
    countMatching: async (name, filter, write) => {
      const resource = await resourceOf(name)
      if (write !== undefined) {
        return many(resource, write === "update" ? "PATCH" : "DELETE", filter, {
          dryRun: true,
          ...write === "update" ? { body: {} } : {}
        })
      }
      const { data, total = data.length } = await list(name, {
        filter,
        pagination: { page: 1, perPage: 1 },
        meta: { count: "exact", fields: ["id"] }
      })
      return { count: total, ids: [] }
    },
    updateMatching: async (name, filter, data) => {
      const resource = await resourceOf(name)
      const body = sentOf(resource.fields.filter((field) => field.isSetOnUpdate), data, true)
      return many(resource, "PATCH", filter, { body })
    },
    deleteMatching: async (name, filter) => many(await resourceOf(name), "DELETE", filter),
    watch: (name, onChange, { filter, onConnection = () => undefined, onEnd = () => undefined } = {}) => {
      const stop = new AbortController()
      const start = async () => {
        const resource = await resourceOf(name)
        const { path, representation } = resource
        const query = new URLSearchParams()
        addFilter(query, filter, { search: representation })
        const options = { caller, path: `${path}/changes`, query, onChange, onConnection, onEnd, signal: stop.signal }
        followChanges({ ...options, wait, idOf: (key) => idOfKey(resource, key) })
      }
      void start().catch(onEnd)
      return () => stop.abort()
    },
    watchMany: (names, onChange, { latest, onConnection = () => undefined, onEnd = () => undefined } = {}) => {
      const stop = new AbortController()
      const { signal } = stop
      const streams = new Map<ReadonlyArray<string>, boolean>()
      let isWhole = false
      const tell = () => {
        const now = streams.size > 0 && Array.from(streams.values()).every((isConnected) => isConnected)
        if (now === isWhole || signal.aborted) return
        isWhole = now
        onConnection(now)
      }
      let known: ReadonlyArray<ResourceDescription> = []
      const follow = (path: string, group: ReadonlyArray<string>) => {
        streams.set(group, false)
        tell()
        followChanges({
          caller,
          path,
          query: new URLSearchParams({ watch: group.join(",") }),
          latest,
          onChange,
          onConnection: (isConnected) => {
            streams.set(group, isConnected)
            tell()
          },
          onEnd: (refusal) => void divide(path, group, refusal),
          signal,
          wait,
          idOf: (key, name) => idOfKey(known.find((one) => one.name === name), key)
        })
      }
      /** Follows those of a stream that was refused which the service does not refuse. */
      const divide = async (path: string, group: ReadonlyArray<string>, refusal: unknown) => {
        const others = group.length === 1 ? [] : await Promise.all(group.map(async (name) => {
          const query = new URLSearchParams({ watch: name, offset: "now" })
          const problem = await caller.send({ path, query, signal }).then(() => undefined, (cause: unknown) => cause)
          return problem instanceof KernelError && isFinal(problem.status) ? undefined : name
        }))
        const left = others.filter((name) => name !== undefined)
        if (signal.aborted) return
        if (left.length < group.length) onEnd(refusal)
        // What is refused together alone goes on as one each.
        const next = left.length === group.length ? left.map((name) => [name]) : left.length > 0 ? [left] : []
        for (const names of next) follow(path, names)
        streams.delete(group)
        tell()
      }
      const start = async () => {
        known = await Promise.all(names.map(resourceOf))
        // The stream of several collections is beside them.
        const groups = Map.groupBy(known, ({ path }) => path.slice(0, path.lastIndexOf("/")))
        for (const [at, group] of groups) follow(`${at}/changes`, group.map(({ name }) => name))
      }
      void start().catch(onEnd)
      return () => stop.abort()
    },
    exportCsv: async (name, { fields: columns, ...params }) => {
      const resource = await resourceOf(name)
      const shown = columns ?? resource.fields.filter((field) => !field.isWriteOnly).map(({ name }) => name)
      const query = asked(resource, { ...params, meta: { ...params.meta, fields: shown } })
      if (resource.may.csv) return (await answered(resource.path, query, params.signal, "text/csv")).blob()
      const found: Array<KernelRecord> = []
      for (let page = 1;; page++) {
        // oxlint-disable-next-line eslint/no-await-in-loop -- a page begins after the one before
        const { data, pageInfo } = await list(name, {
          ...params,
          pagination: { page, perPage: Math.min(500, resource.maxPageSize ?? 500) },
          meta: { fields: shown, count: "none" }
        })
        found.push(...data)
        if (pageInfo?.hasNextPage !== true) break
      }
      return new Blob([csvOf(shown, found)], { type: "text/csv;charset=utf-8" })
    },
    fileUrl: async (name, id, field, { key, size } = {}) => {
      const at = `${pathOf(await resourceOf(name), id)}/${encodeURIComponent(field)}`
      const path = `${key === undefined ? at : `${at}/${encodeURIComponent(key)}`}/address`
      const href = jsonText(jsonObject(await caller.json({ method: "POST", path }))["href"]) ?? ""
      return caller.urlOf(href, size === undefined ? undefined : new URLSearchParams({ size }))
    }
  }
  return provider
}

/** Beyond it a URL may be too long for what is between. */
const maxQuery = 6_000

const maxIds = 100

/** Lists whose cursors are kept. */
const maxLists = 50

/** The identifier of a document by the key of its changes, which is a text. */
const idOfKey = (resource: ResourceDescription | undefined, key: string): string | number => {
  const type = resource?.fields.find(({ name }) => name === "id")?.type
  return type === "integer" || type === "number" ? Number(key) : key
}

const pathOf = ({ path }: ResourceDescription, id: string | number): string =>
  `${path}/${encodeURIComponent(String(id))}`

const idOf = (value: unknown): string | number | undefined =>
  typeof value === "string" || typeof value === "number" ? value : undefined

/** A document with the identifier that its link has, if its field has another name. */
const recordOf = (value: unknown): KernelRecord => {
  const document = jsonObject(value)
  const { href } = jsonObject(jsonObject(document["_links"])["self"])
  const linked = jsonText(href)?.split("/").at(-1)
  const id = idOf(document["id"]) ?? (linked === undefined ? undefined : decodeURIComponent(linked)) ?? ""
  return { ...document, id }
}

/** A weak tag is none that writes are compared by. */
const withTag = (record: KernelRecord, { headers }: Response): KernelRecord => {
  const tag = headers.get("etag")
  return tag === null || tag.startsWith("W/") ? record : { ...record, _etag: tag }
}

const missing = (error: unknown): undefined => {
  if (error instanceof KernelError && (error.status === 404 || error.status === 403)) return undefined
  throw error
}

/** What is sent of a document: the values of these fields, of which an empty one is `null`. */
const sentOf = (fields: ReadonlyArray<FieldDescription>, data: Json, keepsNull = false): Json => {
  const sent: { [name: string]: unknown } = {}
  for (const field of fields) {
    if (isFileField(field) || !Object.hasOwn(data, field.name)) continue
    const value = data[field.name]
    const isEmpty = value === undefined || value === null || value === "" && !isText(field)
    // A password that was not entered stays as it is.
    if (field.isWriteOnly && (isEmpty || value === "")) continue
    if (!isEmpty) sent[field.name] = value
    else if (keepsNull || field.isNullable) sent[field.name] = null
  }
  return sent
}

/**
 * The paths of the fields of which the caller neither sees a value nor has given one, in this document or in parts of it: whoever
 * replaces it removes what is stored there.
 */
const unseenIn = (fields: ReadonlyArray<FieldDescription>, document: Json): ReadonlyArray<string> =>
  fields.flatMap((field): ReadonlyArray<string> => {
    const value = jsonMember(document, field.name)
    if (field.isWriteOnly) return (value ?? null) === null ? [field.path] : []
    const parts = (Array.isArray(value) ? value : [value]).filter(isJson)
    return parts.flatMap((part) => unseenIn(field.fields ?? field.items?.fields ?? [], part))
  })

/** As `unseenIn`, of a document of which nothing is known but what the caller has given. */
const unknownIn = (fields: ReadonlyArray<FieldDescription>, document: Json): ReadonlyArray<string> => [
  ...fields.filter((field) => !isFileField(field) && !Object.hasOwn(document, field.name)).map(({ path }) => path),
  ...unseenIn(fields.filter(({ name }) => Object.hasOwn(document, name)), document)
]

const refuseLosses = (name: string, paths: ReadonlyArray<string>): void => {
  if (paths.length === 0) return
  const message =
    `Documents of ${name} can only be replaced as a whole, and what is stored here is not known: enter a value`
  throw new KernelError(400, message, { errors: Object.fromEntries(paths.map((path) => [path, message])) })
}

/** An empty text is a value of a text that has to be there. */
const isText = ({ isRequired, type }: FieldDescription): boolean =>
  isRequired && (type === "text" || type === "longText" || type === "markdown")

/** The members that another document has as well. */
const onlyOf = (document: Json, other: Json): Json =>
  Object.fromEntries(Object.entries(document).filter(([name]) => Object.hasOwn(other, name)))

const withoutNull = (sent: Json): Json => Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null))

/** A form with the fields of a document, those that are no text as JSON, and its files. */
const formOf = (sent: Json, data: Json, files: ReadonlyArray<FieldDescription>): FormData => {
  const form = new FormData()
  for (const [name, value] of Object.entries(sent)) {
    if (typeof value === "string") form.append(name, value)
    else form.append(name, new Blob([JSON.stringify(value)], { type: "application/json" }))
  }
  for (const field of files) {
    for (const file of chosenFiles(data, field)) form.append(field.name, file)
  }
  return form
}

/** Whether lists take this parameter: a field of such a name takes its place. */
const takes = ({ fields }: ResourceDescription, parameter: "count" | "cursor" | "expand" | "fields"): boolean =>
  !fields.some(({ name }) => name === parameter)

const asked = (resource: ResourceDescription, { filter, meta, sort }: Params.List): URLSearchParams => {
  const query = new URLSearchParams()
  addFilter(query, filter, { search: resource.representation })
  if (sort !== undefined && sort.field !== "") {
    query.set("sort_by", `${sort.order === "DESC" ? "-" : ""}${sort.field}`)
  }
  if (meta?.fields !== undefined && takes(resource, "fields")) query.set("fields", meta.fields.join(","))
  if (meta?.expand !== undefined && meta.expand.length > 0 && takes(resource, "expand")) {
    query.set("expand", meta.expand.join(","))
  }
  return query
}

/** The documents that were embedded, by their resources. */
const prefetchedOf = async (
  { fields }: ResourceDescription,
  items: ReadonlyArray<unknown>
): Promise<{ readonly [resource: string]: ReadonlyArray<KernelRecord> }> => {
  const found = new Map<string, Map<string | number, KernelRecord>>()
  for (const item of items) {
    for (const [name, embedded] of Object.entries(jsonObject(jsonObject(item)["_embedded"]))) {
      const field = fields.find((one) => one.name === name)
      const reference = field?.reference ?? field?.items?.reference
      if (reference === undefined) continue
      const records = found.get(reference) ?? new Map<string | number, KernelRecord>()
      found.set(reference, records)
      for (const one of Array.isArray(embedded) ? embedded : [embedded]) {
        if (isJson(one)) records.set(recordOf(one).id, recordOf(one))
      }
    }
  }
  return Object.fromEntries(Array.from(found, ([resource, records]) => [resource, [...records.values()]]))
}

/** The answer to a write: the document, or what was sent where the caller may not read it. */
const writtenOf = async (response: Response, sent: Json, known?: string | number): Promise<KernelRecord> => {
  const body = jsonObject(await jsonOf(response))
  const id = known ?? idOf(body["result"])
  return body["_type"] === "OperationResult"
    ? withTag({ ...sent, id: id ?? "" }, response)
    : withTag(recordOf(body), response)
}

const withPart = (
  { cause, done, left }: KernelPartialWrites,
  before: KernelPartialWrites["done"],
  after: KernelPartialWrites["left"]
): unknown =>
  cause instanceof KernelError ? new KernelPartialWrites(cause, [...before, ...done], [...left, ...after]) : cause

/** Writes documents one after the other, also after one that was refused. `gone` is what one is that is not there. */
const each = async (
  ids: ReadonlyArray<string | number>,
  run: (id: string | number) => Promise<unknown>,
  gone: "done" | "left out"
): Promise<Array<string | number>> => {
  const done: Array<string | number> = []
  const left: Array<string | number> = []
  let refusal: KernelError | undefined
  for (const [i, id] of ids.entries()) {
    // oxlint-disable-next-line eslint/no-await-in-loop -- each is a request of its own
    const error: unknown = await run(id).then(() => undefined, (cause: unknown) => cause)
    // What somebody has begun ends with their sign-in.
    if (error !== undefined && (!(error instanceof KernelError) || error.status === 401)) throw error
    const isGone = error?.status === 404
    if (error === undefined || (isGone && gone === "done")) done.push(id)
    else if (!isGone) {
      refusal ??= error
      left.push(id)
      // What fails for all is not asked for all.
      if (isOfAll(error)) {
        throw new KernelPartialWrites(error, done, [...left, ...ids.slice(i + 1)])
      }
    }
  }
  if (refusal !== undefined) throw new KernelPartialWrites(refusal, done, left)
  return done
}

/** Whether a failure says nothing of one document: there is no connection, or the service fails or has too much to do. */
const isOfAll = ({ status }: KernelError): boolean => status === 0 || status === 429 || status >= 500
