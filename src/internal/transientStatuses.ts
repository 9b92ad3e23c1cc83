/**
 * The statuses after which calls are tried again and streams connect again, in a module of its own for `Client` and
 * `Http`.
 */

/** The statuses of answers that may be others soon (RFC 9110, section 15; RFC 6585; RFC 8470). */
export const transientStatuses: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])
