/**
 * How calls of the providers fail.
 *
 * @since 0.1.0
 */

/**
 * An answer that is an error. It has the form of react-admin's `HttpError`, so that forms show the problems of a 400 at their
 * fields and notifications the message. A request without an answer has the status 0.
 *
 * @category errors
 * @since 0.1.0
 */
export class KernelError extends Error {
  override readonly name: string = "HttpError"
  readonly status: number
  readonly body: KernelError.Body
  constructor(status: number, message: string, body: KernelError.Body = { errors: {} }, options?: ErrorOptions) {
    super(message, options)
    this.status = status
    this.body = body
  }
}

/**
 * Types of {@link KernelError}.
 *
 * @category models
 * @since 0.1.0
 */
export declare namespace KernelError {
  /** What the service has said. */
  export interface Body {
    /** The messages by the paths of fields: `lines.0.quantity`. Those of no field are in `root.serverError`. */
    readonly errors: { readonly [path: string]: string }
    /** The members of the answer: those of a typed error of the service, and the seconds of a `retry_after`. */
    readonly [member: string]: unknown
  }
}

/**
 * Occurs when a document has been changed in part: what stands before it was written, and a file was refused, whose problem is at its
 * field. The document is to be read again before anything else of it is written.
 *
 * @category errors
 * @since 0.1.0
 */
export class KernelPartialWrite extends KernelError {}

/**
 * Occurs when somebody else has changed the document since it was read: nothing was written. `current` is the document as it
 * is now, and `etag` its tag, with which a write that has looked at it succeeds: `meta: { etag }`.
 *
 * @category errors
 * @since 0.1.0
 */
export class KernelConflict extends KernelError {
  /** The document as it is now; `undefined` if it is gone. */
  readonly current: { readonly [field: string]: unknown } | undefined
  readonly etag: string | undefined
  constructor(error: KernelError, current: KernelConflict["current"], etag: string | undefined) {
    super(error.status, error.message, error.body, { cause: error })
    this.current = current
    this.etag = etag
  }
}

/**
 * Occurs when several documents were to be written, and some were not: `done` are the identifiers of those that are, `left` of those
 * that can be tried again. The status, the message and the problems are those of the first refusal, or of the failure that ended it.
 *
 * @category errors
 * @since 0.1.0
 */
export class KernelPartialWrites extends KernelError {
  readonly done: ReadonlyArray<string | number>
  readonly left: ReadonlyArray<string | number>
  constructor(error: KernelError, done: KernelPartialWrites["done"], left: KernelPartialWrites["left"]) {
    super(error.status, error.message, error.body, { cause: error })
    this.done = done
    this.left = left
  }
}
