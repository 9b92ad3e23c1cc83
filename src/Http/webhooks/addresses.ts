/**
 * Where deliveries may go: to the public internet and to the networks that the service allows. It is decided by the address that is
 * connected to, after the name was looked up, so that no name leads elsewhere.
 */
import type * as Undici from "@effect/platform-node/Undici"
import ipaddr from "ipaddr.js"
import { lookup } from "node:dns"
import { isIP, type LookupFunction } from "node:net"
import { DeclarationError } from "../../internal/declarationError.ts"

/** Decides on addresses, as texts. Throws a {@link DeclarationError} for a network that is none. */
export const makeAllowed = (networks: ReadonlyArray<string>): (address: string) => boolean => {
  const allowed = networks.map((network) => {
    if (!ipaddr.isValidCIDR(network)) throw new DeclarationError(`The network ${network} is none: 10.1.0.0/16 is one`)
    return ipaddr.parseCIDR(network)
  })
  return (text) => {
    if (!ipaddr.isValid(text)) return false
    // An IPv4 address in an IPv6 one is that address.
    const address = ipaddr.process(text)
    return isPublic(address) ||
      allowed.some((network) => network[0].kind() === address.kind() && address.match(network))
  }
}

/** Connects to allowed addresses alone. */
export const connectorTo = (
  undici: Pick<typeof Undici, "buildConnector">,
  isAllowed: (address: string) => boolean
): Undici.buildConnector.connector => {
  const connect = undici.buildConnector({ allowH2: false, timeout: connectMillis, lookup: lookupOf(isAllowed) })
  return (options, callback) => {
    // An address is not looked up.
    const host = options.hostname.replaceAll(/^\[|\]$/gu, "")
    return isIP(host) !== 0 && !isAllowed(host)
      ? callback(new Error(refusedAddress), null)
      : connect(options, callback)
  }
}

// internal

const connectMillis = 10_000

const refusedAddress = "the address is not one of the public internet"

/** The ranges of the package are those of special addresses, and of IPv6 only a part is given out at all (RFC 4291, section 2.4). */
const isPublic = (address: ReturnType<typeof ipaddr.process>): boolean =>
  address.range() === "unicast" &&
  (address.kind() === "ipv4" ? address.toString() !== platformOfAzure : address.match(globalUnicast))

/** The one address of services for machines of a cloud that is not special for anybody else. */
const platformOfAzure = "168.63.129.16"

const globalUnicast = ipaddr.parseCIDR("2000::/3")

const lookupOf = (isAllowed: (address: string) => boolean): LookupFunction => (hostname, options, callback) =>
  lookup(hostname, { ...options, all: true }, (error, found) => {
    const [first, ...others] = found?.filter(({ address }) => isAllowed(address)) ?? []
    if (error !== null) callback(error, "")
    else if (first === undefined) callback(new Error(refusedAddress), "")
    else if (options.all === true) callback(null, [first, ...others])
    else callback(null, first.address, first.family)
  })
