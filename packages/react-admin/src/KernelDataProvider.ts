/**
 * The data provider: the methods of react-admin's `DataProvider`, and what it has no method for.
 *
 * @since 0.1.0
 */

/**
 * A document, as the service answers it. `_links` says what the caller may do with it, and `_etag` is its tag if it has one, which
 * documents of lists have not: an `update` or a `delete` whose `previousData` has a tag or a version is refused with a
 * `KernelConflict` if somebody else has changed the document since.
 *
 * @category models
 * @since 0.1.0
 */
export interface KernelRecord {
  readonly id: string | number
  readonly _links?: { readonly [name: string]: Link } | undefined
  readonly _etag?: string | undefined
  readonly [field: string]: unknown
}

/**
 * What can be done with a document.
 *
 * @category models
 * @since 0.1.0
 */
export interface Link {
  readonly href: string
  readonly methods?: string | ReadonlyArray<string> | undefined
  readonly args?: ReadonlyArray<string> | undefined
}

/**
 * The conditions of a list: the values of fields by their paths, each as it is, as a list of which it is one, or by operators of
 * the URL language: `{ price: { ">": 5, "<": 10 }, name: { "~": "kettle" }, state: ["open", "paid"], due: { null: true } }`.
 * `$text` searches texts, `q` the field that names documents, `$query` is a condition of MongoDB, `$logic` is `AND` or `OR`, and
 * `$deleted` is `include` or `only`. With `OR`, a field that is named as a parameter is, such as `page`, can only be equal.
 * An empty text is no condition, as of an input in which nothing was entered; `{ name: { "=": "" } }` is one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Filter {
  readonly [path: string]: unknown
}

/**
 * The parameters of the methods.
 *
 * @category models
 * @since 0.1.0
 */
export declare namespace Params {
  /** Of each method. */
  export interface Any {
    readonly signal?: AbortSignal | undefined
  }

  export interface List extends Any {
    readonly pagination?: { readonly page: number; readonly perPage: number } | undefined
    readonly sort?: { readonly field: string; readonly order: "ASC" | "DESC" } | undefined
    // react-admin says `any`.
    readonly filter?: Filter | undefined
    /** `count`: how the number of all is found. `expand`: the fields whose documents come with the list. */
    readonly meta?: {
      readonly count?: "exact" | "estimated" | "none" | undefined
      readonly expand?: ReadonlyArray<string> | undefined
      readonly fields?: ReadonlyArray<string> | undefined
    } | undefined
  }

  export interface One extends Any {
    readonly id: string | number
    /** `deleted`: whether it may be a deleted document. */
    readonly meta?: { readonly deleted?: boolean | undefined } | undefined
  }

  export interface Many extends Any {
    readonly ids: ReadonlyArray<string | number>
    readonly meta?: unknown
  }

  export interface Reference extends List {
    readonly target: string
    readonly id: string | number
  }

  export interface Create {
    readonly data: { readonly [field: string]: unknown }
    readonly meta?: unknown
  }

  export interface Update {
    readonly id: string | number
    readonly data: { readonly [field: string]: unknown }
    readonly previousData?: { readonly [field: string]: unknown } | undefined
    /** `etag`: the tag of the document that is to be written over, in the place of that of `previousData`. */
    readonly meta?: { readonly etag?: string | undefined } | undefined
  }

  export interface UpdateMany {
    readonly ids: ReadonlyArray<string | number>
    readonly data: { readonly [field: string]: unknown }
    readonly meta?: unknown
  }

  export interface Delete {
    readonly id: string | number
    readonly previousData?: { readonly [field: string]: unknown } | undefined
    readonly meta?: unknown
  }
}

/**
 * A page of a list. `total` is missing where it was not counted.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page<T> {
  data: Array<T>
  total?: number
  pageInfo?: { hasNextPage?: boolean; hasPreviousPage?: boolean }
  meta?: { readonly prefetched?: { readonly [resource: string]: ReadonlyArray<KernelRecord> } }
}

/**
 * A change of a document in the past.
 *
 * @category models
 * @since 0.1.0
 */
export interface Revision {
  readonly revision: number
  /** `insert`, `update`, `patch`, `replace`, `delete` or `restore`. */
  readonly change: string
  /** When it was, an ISO 8601 date-time. */
  readonly time: string
  /** Who made it, if the service says so. */
  readonly by?: string | undefined
  readonly [member: string]: unknown
}

/**
 * What has happened to a document of a list: `insert` if it was created or has begun to match, `delete` if it was deleted or
 * has ceased to match. `reset`: the rights of the caller have changed, so that everything is to be read again.
 *
 * @category models
 * @since 0.1.0
 */
export interface Change {
  readonly operation: "insert" | "update" | "delete" | "reset"
  /** The resource of the document. */
  readonly resource?: string | undefined
  readonly id?: string | number | undefined
  readonly record?: KernelRecord | undefined
  /** When it happened, by the clock of the service. */
  readonly time?: Date | undefined
}

/**
 * What a write of many documents has done, or would do.
 *
 * @category models
 * @since 0.1.0
 */
export interface ManyResult {
  readonly count: number
  readonly ids: ReadonlyArray<string | number>
}

// oxlint-disable typescript/no-unnecessary-type-parameters -- the signatures are those of react-admin

/**
 * The data provider.
 *
 * @category models
 * @since 0.1.0
 */
export interface KernelDataProvider {
  readonly supportAbortSignal: true
  /**
   * A page. Numbers of pages are followed by cursors once all matches were not counted: beyond the option `countUpTo` there is no
   * `total`, but a `pageInfo`.
   */
  readonly getList: <T extends KernelRecord = KernelRecord>(resource: string, params: Params.List) => Promise<Page<T>>
  readonly getOne: <T extends KernelRecord = KernelRecord>(
    resource: string,
    params: Params.One
  ) => Promise<{ data: T }>
  readonly getMany: <T extends KernelRecord = KernelRecord>(
    resource: string,
    params: Params.Many
  ) => Promise<{ data: Array<T> }>
  readonly getManyReference: <T extends KernelRecord = KernelRecord>(
    resource: string,
    params: Params.Reference
  ) => Promise<Page<T>>
  /** Creates a document, with its files: a value of a field of files is a `File`, or has one as `rawFile`. */
  readonly create: <T extends KernelRecord = KernelRecord>(
    resource: string,
    params: Params.Create
  ) => Promise<{ data: T }>
  /**
   * Changes what of `data` differs from `previousData`, or all of it without one, and nothing else. Fails with a `KernelConflict` if somebody else has changed the
   * document since `previousData` was read, and the service versions it. A file takes the place of that of `previousData` alone, and
   * fails in the same way if there is another one. The files of a list are removed after the new ones are there, as far as there is room.
   *
   * Where documents can only be replaced, what `data` does not have is read first, if it is not in `previousData`. A field that the
   * service does not show has to be given: a replacement without it would remove what is stored, and fails with a 400 at the field.
   */
  readonly update: <T extends KernelRecord = KernelRecord>(
    resource: string,
    params: Params.Update
  ) => Promise<{ data: T }>
  /**
   * Changes all or none where the service can, and otherwise one after the other. More than fit into a URL, about a hundred, are
   * changed in parts, of each of which it is all or none. Fails with a `KernelPartialWrites` if some were not changed. Those that are
   * gone are left out.
   */
  readonly updateMany: (resource: string, params: Params.UpdateMany) => Promise<{ data: Array<string | number> }>
  /** Fails with a `KernelConflict` as `update` does. */
  readonly delete: <T extends KernelRecord = KernelRecord>(
    resource: string,
    params: Params.Delete
  ) => Promise<{ data: T }>
  /** Deletes as `updateMany` changes. Those that are gone count as deleted. */
  readonly deleteMany: (resource: string, params: Params.Many) => Promise<{ data: Array<string | number> }>
  /** The changes of a document, the latest first; `next` is the `before` of those that follow. */
  readonly history: (
    resource: string,
    id: string | number,
    page?: { readonly before?: number | undefined; readonly pageSize?: number | undefined }
  ) => Promise<{ readonly data: ReadonlyArray<Revision>; readonly next?: number | undefined }>
  /** The document as it was after a change. */
  readonly revision: (
    resource: string,
    id: string | number,
    revision: number
  ) => Promise<{ readonly data: KernelRecord }>
  /** Takes the deletion of a document back or, with a revision, writes this earlier state again. */
  readonly restore: (
    resource: string,
    id: string | number,
    revision?: number
  ) => Promise<{ readonly data: KernelRecord }>
  /** Removes a document for good. */
  readonly purge: (resource: string, id: string | number) => Promise<void>
  /** Runs an action of a document, or of the collection without an `id`. The answer is what the action gives. */
  readonly runAction: (
    resource: string,
    name: string,
    id?: string | number,
    args?: { readonly [name: string]: unknown }
  ) => Promise<{ readonly data: unknown }>
  /** Runs an operation of a service: `payments.pay`. */
  readonly runOperation: (
    name: string,
    args?: { readonly [name: string]: unknown }
  ) => Promise<{ readonly data: unknown }>
  /** How many documents match, or how many of them a write would be of. */
  readonly countMatching: (
    resource: string,
    filter: Filter,
    write?: "update" | "delete"
  ) => Promise<ManyResult>
  /**
   * Changes all documents that match, or none. `{}` is all documents; another filter in which a condition says nothing, such as
   * `{ name: "" }`, is refused with a 400. A list of identifiers that is too long for a URL is written in parts, as by `updateMany`.
   */
  readonly updateMatching: (
    resource: string,
    filter: Filter,
    data: { readonly [field: string]: unknown }
  ) => Promise<ManyResult>
  /** Deletes all documents that match, or none, as `updateMatching`. */
  readonly deleteMatching: (resource: string, filter: Filter) => Promise<ManyResult>
  /**
   * Follows a list from now on, through broken connections and restarts. Returns what ends it. `onConnection` is told `true` each
   * time that the stream has begun, from when on no change is missed, and `false` when it is interrupted; `onEnd` that it has ended
   * for good, since the service refuses it.
   */
  readonly watch: (
    resource: string,
    onChange: (change: Change) => void,
    options?: {
      readonly filter?: Filter | undefined
      readonly onConnection?: ((isConnected: boolean) => void) | undefined
      readonly onEnd?: ((error: unknown) => void) | undefined
    }
  ) => () => void
  /**
   * As `watch`, of several resources over as few connections as there are, since browsers have six to a service. `onConnection` is told
   * `true` when all of them are followed, and `onEnd` that the service refuses some: the others are followed on. With `latest`, the
   * changes of the last day come first, in the order in which they happened: so many at least, if there were so many and the service
   * keeps them, and only those of the last hour or minute if these are enough.
   */
  readonly watchMany: (
    resources: ReadonlyArray<string>,
    onChange: (change: Change) => void,
    options?: {
      readonly latest?: number | undefined
      readonly onConnection?: ((isConnected: boolean) => void) | undefined
      readonly onEnd?: ((error: unknown) => void) | undefined
    }
  ) => () => void
  /** All documents that match as a table, with `fields` as its columns in this order. */
  readonly exportCsv: (
    resource: string,
    params: Params.List & { readonly fields?: ReadonlyArray<string> | undefined }
  ) => Promise<Blob>
  /** An address of a file, for an `<img>` or a link, which needs no credentials for five minutes. */
  readonly fileUrl: (
    resource: string,
    id: string | number,
    field: string,
    options?: { readonly size?: string | undefined; readonly key?: string | undefined }
  ) => Promise<string>
}
