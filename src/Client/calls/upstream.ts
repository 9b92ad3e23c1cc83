import type { Models } from "./bodies.ts"
import type { Exchange } from "./exchange.ts"
import type { Retries } from "./retries.ts"

/** A service under a root address, as its proxy and the wrappers of its URLs call it. */
export interface Upstream {
  /** The root address, without a slash at its end. */
  readonly root: string
  readonly exchange: Exchange
  /** The models of answers. */
  readonly models: Models
  /** The configured time to wait for an answer, in milliseconds; `undefined` for that of each kind of call. */
  readonly readTimeout: number | undefined
  /** When calls that say nothing of it are tried again. */
  readonly retries: Retries | undefined
}
