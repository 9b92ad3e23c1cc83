/**
 * The address of the current client, which the engine sets for all folders, and the address by which callers are
 * counted.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as IpNetwork from "effect/net/IpNetwork"
import * as NetAddress from "effect/net/NetAddress"
import * as Result from "effect/Result"

/** The address that a text names, an IPv4-mapped one as IPv4 (RFC 4291, section 2.5.5.2); `undefined` if it is none. */
export const addressOf = (text: string): NetAddress.IpAddress | undefined => {
  const zone = text.indexOf("%")
  const parsed = NetAddress.ipFromString(zone === -1 ? text : text.slice(0, zone))
  return Result.isSuccess(parsed) ? NetAddress.toCanonical(parsed.success) : undefined
}

/** The address by which callers are counted, the /64 of an IPv6 one. Another text stays. */
export const countedAddressOf = (text: string): string => {
  // A text without a colon is IPv4, or no address.
  if (!text.includes(":")) return text
  const address = addressOf(text)
  if (address === undefined) return text
  if (NetAddress.isIpv4Address(address)) return NetAddress.formatIp(address)
  return IpNetwork.format(IpNetwork.fromAddressUnsafe(address, 64))
}

/** How the address of the current client is found. The engine sets it for all handlers, once. */
export const ClientAddressSource: Context.Reference<Effect.Effect<string | undefined>> = Context.Reference<
  Effect.Effect<string | undefined>
>("appkernel/internal/ClientAddressSource", { defaultValue: () => Effect.succeed(undefined) })

/** The address of the client whose request the fiber handles; `undefined` outside of requests. */
export const currentClientAddress: Effect.Effect<string | undefined> = Effect.flatMap(
  ClientAddressSource,
  (source) => source
)
