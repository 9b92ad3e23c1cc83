/** Which requests may be sent twice: only these are retried, or repeated when a connection turns out to be closed. */

export const idempotencyKey = "idempotency-key"

/** Whether a request may be sent twice: by its method (RFC 9110, section 9.2.2, and RFC 10008), or by a key in its headers. */
export const isIdempotent = (
  { headers, method }: { readonly method: string; readonly headers: { readonly [name: string]: string | undefined } }
): boolean => methods.has(method) || headers[idempotencyKey] !== undefined

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PUT", "DELETE"])
