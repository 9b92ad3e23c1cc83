/** The state that proxies and request wrappers share for one service: its address, models, time limits and retries. */
import type { Resolved } from "../HttpClientConfig.ts"
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
  /** The times to wait of each kind of call, in milliseconds. */
  readonly timeouts: Pick<Resolved, "callTimeout" | "uploadTimeout" | "downloadTimeout">
  /** When calls without options of their own are tried again. */
  readonly retries: Retries | undefined
}
