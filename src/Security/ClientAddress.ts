/**
 * The address of the client.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import { currentClientAddress } from "../internal/clientAddress.ts"

/**
 * The address of the client whose request is handled, without port, an IPv4-mapped one as IPv4; `undefined` outside of
 * requests, and if the client has disconnected.
 *
 * **Details**
 *
 * It is the address of the connection, unless that is one of `server.trusted_proxies`. Then it is the nearest address in
 * `server.forwarded_header` that is no trusted proxy. The header is read from its end, since each proxy appends the address
 * that it sees, and anybody can send what is before. A trusted proxy's own address counts if what it has written is no
 * address.
 *
 * **Example** (An operation that tells callers their address)
 *
 * ```ts
 * import { ClientAddress, Service } from "appkernel"
 * import { Effect, Schema } from "effect"
 *
 * const Echo = Service.make("EchoService").operation("address", { success: Schema.String }, () =>
 *   Effect.map(ClientAddress.current, (address) => address ?? "unknown"))
 * ```
 *
 * @category accessors
 * @since 0.1.0
 */
export const current: Effect.Effect<string | undefined> = currentClientAddress
