/** The address of a client behind trusted proxies, from `X-Forwarded-For` or `Forwarded`. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as IpNetwork from "effect/net/IpNetwork"
import * as NetAddress from "effect/net/NetAddress"
import type { IncomingMessage } from "node:http"
import { addressOf } from "../../internal/clientAddress.ts"
import type { ProxyOptions } from "../KernelConfig.ts"

/** Finds the address of a client. */
export type ClientAddressOf = (request: Pick<IncomingMessage, "headers" | "socket">) => string | undefined

/** Reads the header of trusted proxies from its end (RFC 7239, section 8.1): anybody can send what is before. */
export const makeClientAddress = ({ forwardedHeader, trustedProxies }: ProxyOptions): ClientAddressOf => {
  if (trustedProxies.length === 0) return ({ socket }) => canonical(socket.remoteAddress)
  const isTrusted = (address: NetAddress.IpAddress) =>
    trustedProxies.some((network) => IpNetwork.contains(network, address))
  const { addressIn, mayBeEmpty, previous } = forwardedHeader === "forwarded" ? forwarded : forwardedFor
  const known = new WeakMap<object, string>()

  const resolve = (direct: string, header: string): string => {
    let address = addressOf(direct)
    let end = header.length
    for (let hops = 0; hops < maxHops && address !== undefined && isTrusted(address) && end > -1;) {
      const start = previous(header, end)
      const entry = header.slice(start + 1, end).trim()
      end = start
      if (entry === "" && mayBeEmpty) continue
      const next = addressIn(entry)
      if (next === undefined) break
      address = next
      hops++
    }
    return address === undefined ? direct : NetAddress.formatIp(address)
  }

  return (request) => {
    const cached = known.get(request)
    if (cached !== undefined) return cached
    const direct = request.socket.remoteAddress
    if (direct === undefined) return undefined
    const header = request.headers[forwardedHeader]
    const address = resolve(direct, Array.isArray(header) ? header.join() : header ?? "")
    known.set(request, address)
    return address
  }
}

/** More entries of trusted proxies than any network has are not followed. */
const maxHops = 32

const canonical = (address: string | undefined): string | undefined => {
  if (address === undefined || !address.startsWith("::ffff:")) return address
  const parsed = addressOf(address)
  return parsed === undefined ? address : NetAddress.formatIp(parsed)
}

interface Entries {
  /** Whether empty elements count for nothing (RFC 9110, section 5.6.1.2). Otherwise one is of an unknown address. */
  readonly mayBeEmpty: boolean
  /** The index of the comma before the entry that ends at `end`; -1 before the first one. */
  readonly previous: (header: string, end: number) => number
  readonly addressIn: (entry: string) => NetAddress.IpAddress | undefined
}

/** An address, perhaps with a port: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]:80`. */
const nodeAddress = (text: string): NetAddress.IpAddress | undefined => {
  // Anything longer is no address.
  if (text.length > 64) return undefined
  const [, bracketed, v4] = /^(?:\[([^\]]*)\](?::\d+)?|(\d+(?:\.\d+){3}):\d+)$/u.exec(text) ?? []
  return addressOf(bracketed ?? v4 ?? text)
}

/** `X-Forwarded-For`: addresses, separated by commas. */
const forwardedFor: Entries = {
  mayBeEmpty: false,
  previous: (header, end) => end === 0 ? -1 : header.lastIndexOf(",", end - 1),
  addressIn: nodeAddress
}

/** `Forwarded` (RFC 7239): elements of pairs, whose values may be quoted and then have commas. */
const forwarded: Entries = {
  mayBeEmpty: true,
  // Quotes pair up from the end as well, in what trusted proxies have written.
  previous: (header, end) => {
    let isQuoted = false
    for (let i = end - 1; i >= 0; i--) {
      const character = header[i]
      if (character === "\"" && !isEscaped(header, i)) isQuoted = !isQuoted
      else if (character === "," && !isQuoted) return i
    }
    return -1
  },
  addressIn: (entry) => {
    const nodes = [...entry.matchAll(pair)].filter(([, name]) => name?.toLowerCase() === "for")
    const [, , token, quoted] = nodes.length === 1 ? nodes[0]! : []
    const node = token ?? quoted?.replaceAll(/\\(.)/gu, "$1")
    return node === undefined ? undefined : nodeAddress(node)
  }
}

const isEscaped = (text: string, index: number): boolean => {
  let backslashes = 0
  while (text[index - 1 - backslashes] === "\\") backslashes++
  return backslashes % 2 === 1
}

/** A name and a token or a quoted string. */
const pair = /(?<=^|;)\s*([\w!#$%&'*+.^`|~-]+)=(?:([\w!#$%&'*+.^`|~-]+)|"((?:[^"\\]|\\.)*)")\s*(?=;|$)/gu

/** The address of the client of the request that the fiber handles. */
export const addressOfRequest = (clientAddressOf: ClientAddressOf): Effect.Effect<string | undefined> =>
  Effect.withFiber((fiber) => {
    const request = Context.getOrUndefined(fiber.context, HttpServerRequest.HttpServerRequest)
    return Effect.succeed(
      request === undefined ? undefined : clientAddressOf(NodeHttpServerRequest.toIncomingMessage(request))
    )
  })
