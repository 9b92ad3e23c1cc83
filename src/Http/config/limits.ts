/**
 * The limits of one request, and what else the configuration says of requests, with their keys. `KernelConfig` exports them.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Record from "effect/Record"
import { configOr, defaultOf, type Key } from "../../internal/configurationKeys.ts"

/**
 * The limits of one request.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  /** The maximum bytes of a JSON body. Defaults to 1 MiB. */
  readonly maxBodySize: number
  /** The maximum bytes of a multipart body. Defaults to 10 MiB. */
  readonly maxMultipartSize: number
  /**
   * The maximum number of fields of a form, of parts of a multipart body, and of parameters of a URL, with unknown and
   * repeated ones counted each time. Defaults to 1,000.
   */
  readonly maxFields: number
  /** The documents on a page if the request gives no size, at most {@link maxPageSize}. Defaults to 50. */
  readonly defaultPageSize: number
  /** The maximum number of documents on a page. Defaults to 1,000. */
  readonly maxPageSize: number
  /**
   * The maximum bytes of a page or of an aggregation's result, which always has at least one document. Beyond this
   * limit, a numbered page and an aggregation are a 400, and a cursor page ends early with its `next`. The server holds
   * four times as many bytes for larger responses at once; others wait, at most for {@link queryTimeout}. Defaults to
   * 16 MiB.
   */
  readonly maxPageBytes: number
  /** The maximum number of documents that an aggregation or a native query returns. Defaults to 10,000. */
  readonly maxResults: number
  /** The maximum number of paths that a request may expand. Defaults to 10. */
  readonly maxExpandPaths: number
  /** The maximum number of references that a path to expand may follow. Defaults to 3. */
  readonly maxExpandDepth: number
  /**
   * The maximum number of documents that are read to expand those of one answer. Beyond it the answer is a 400. Their texts have
   * at most {@link maxPageBytes}. Defaults to 10,000.
   */
  readonly maxExpanded: number
  /**
   * The maximum number of documents that one `PUT`, `PATCH` or `DELETE` of a collection may write. Beyond it the answer is a 413.
   * Defaults to 1,000.
   */
  readonly maxMany: number
  /** The time after which the store aborts a query. Defaults to 5 seconds. */
  readonly queryTimeout: Duration.Duration
  /**
   * Whether a page leaves out stored documents that do not fit the model. It has their number in the header
   * `X-Unreadable-Count`. Defaults to false: the page is a 500. Both log the identifiers.
   */
  readonly skipUnreadable: boolean
  /**
   * What a `POST` with the identifier of an existing document does, at registrations that do not say it: `replace` the document,
   * or fail with a 409 (`error`). Defaults to `replace`.
   */
  readonly onKnownId: "replace" | "error"
  /** Whether writes take an `Idempotency-Key` or need one, at registrations that do not say it. Defaults to `none`. */
  readonly idempotencyKeys: "none" | "accepted" | "required"
}

/** The keys of the limits. */
const limitKeys = {
  maxBodySize: "server.max_body_size",
  maxMultipartSize: "server.max_multipart_size",
  maxFields: "server.max_fields",
  defaultPageSize: "query.default_page_size",
  maxPageSize: "query.max_page_size",
  maxPageBytes: "query.max_page_bytes",
  maxResults: "query.max_results",
  maxExpandPaths: "query.max_expand_paths",
  maxExpandDepth: "query.max_expand_depth",
  maxExpanded: "query.max_expanded",
  maxMany: "query.max_many",
  queryTimeout: "query.timeout",
  skipUnreadable: "query.skip_unreadable",
  onKnownId: "server.on_known_id",
  idempotencyKeys: "idempotency.keys"
} as const satisfies { readonly [K in keyof Limits]: Key }

/**
 * The current limits.
 *
 * @category references
 * @since 0.1.0
 */
export const Limits: Context.Reference<Limits> = Context.Reference<Limits>("appkernel/Http/KernelConfig/Limits", {
  // Each key has a default of the limit's type.
  defaultValue: () => Record.map(limitKeys, (key) => defaultOf(key)) as never
})

/**
 * The limits. Unset keys take their values from `otherwise`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const limits = (otherwise: Limits): Config.Config<Limits> =>
  Config.map(
    // Each key has values of the limit's type.
    Config.all(Record.map(limitKeys, (key, name) => configOr(key, otherwise[name]))) as Config.Config<Limits>,
    (limits) => ({ ...limits, defaultPageSize: Math.min(limits.defaultPageSize, limits.maxPageSize) })
  )
