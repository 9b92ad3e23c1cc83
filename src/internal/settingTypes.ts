/** The types of keys of the configuration: what is expected, the parsers, and what messages may show of a value. */
import * as ByteSize from "effect/ByteSize"
import * as Duration from "effect/Duration"
import * as IpNetwork from "effect/net/IpNetwork"
import * as NetAddress from "effect/net/NetAddress"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { booleanOf } from "./booleans.ts"
import type { Rate } from "./rateLimiter.ts"

/** The type of a value, as named in messages. */
export type Kind = "text" | "a number" | "true or false" | "a list" | "a mapping"

/** One key under `appkernel`: a row of the table. */
export interface Setting<A, Default = unknown> {
  /** The expectation, to follow "expected". */
  readonly expected: string
  /** The types that a file may have here. An environment has texts only. */
  readonly kinds: ReadonlyArray<Kind>
  /** Parses a text, of a list its parts separated by commas; `undefined` if it is not as expected. */
  readonly parse: (text: string) => A | undefined
  /** What people may see of a text. */
  readonly shown: (text: string) => string
  /** What it is for, as the reference says it. */
  readonly meaning: string
  /** The default, as the reference says it. */
  readonly otherwise: string
  readonly byDefault: Default
}

/** What a value is where the default is not the value itself. */
interface Described {
  readonly shown: string
}

/** A row of a type: with a default, as people write it, or without one. */
interface Row<A> {
  (meaning: string, otherwise: string | (Described & { readonly value: string })): Setting<A, A>
  (meaning: string, otherwise?: Described): Setting<A, undefined>
}

const setting = <A>(
  expected: string,
  kinds: ReadonlyArray<Kind>,
  parse: (text: string) => A | undefined,
  shown = (text: string) => text
): Row<A> =>
  ((meaning: string, otherwise: string | (Described & { readonly value?: string }) = { shown: "none" }) => {
    const { shown: told, value } = typeof otherwise === "string" ? { shown: otherwise, value: otherwise } : otherwise
    const byDefault = value === undefined ? undefined : parse(value.replaceAll(/(?<=\d),(?=\d{3})/gu, ""))
    return { expected, kinds, parse, shown, meaning, otherwise: told, byDefault }
    // A default is a value of its row's type, which a test holds.
  }) as never

const masked = "(secret)"

/** A URL without what is in front of its host, and without parameters that may be secrets. */
const withoutCredentials = (url: string): string =>
  url.replace(/^([a-z][\w+.-]*:\/\/)?.*@/siu, `$1${masked}@`)
    .replaceAll(/([?&][^=&#]*(?:password|secret|token|key|properties)[^=&#]*=)[^&#]+/giu, `$1${masked}`)

/** Texts accept no numbers, since YAML does not preserve a number's notation. */
export const text = setting("text", ["text"], (value) => value)

export const address = setting("text", ["text"], (value) => value, withoutCredentials)

export const secret = setting(
  "a text of at least 32 characters",
  ["text"],
  (value) => value.length < 32 ? undefined : Redacted.make(value),
  () => masked
)

const numberBetween = (minimum: number, maximum: number) => (value: string): number | undefined => {
  const number = /^\s*\d+\s*$/u.test(value) ? Number(value) : NaN
  return number >= minimum && number <= maximum ? number : undefined
}

export const integer = (minimum: number, maximum: number) =>
  setting(
    `a whole number from ${minimum} to ${maximum}`,
    ["a number", "text"],
    numberBetween(minimum, maximum)
  )

export const size = setting(
  "a number of bytes, or a size such as \"10 MB\" or \"10 MiB\"",
  ["a number", "text"],
  (value) => {
    const bytes = Number(
      /^\s*\d+\s*$/u.test(value)
        ? value
        : Option.getOrUndefined(Option.map(ByteSize.fromString(value), ByteSize.toBigInt))
    )
    return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined
  }
)

export const workerCount = setting(
  "a whole number from 1 to 256, or auto",
  ["a number", "text"],
  (value) => value.trim().toLowerCase() === "auto" ? "auto" : numberBetween(1, 256)(value)
)

/** Parses a duration, a number of seconds or a text such as `500 millis`; `undefined` for any other text. */
const durationOf = (text: string): Duration.Duration | undefined =>
  /^\s*\d+(\.\d+)?\s*$/u.test(text)
    ? Duration.seconds(Number(text))
    // The type lists only valid texts; the parser checks at run time and returns none for others.
    : Option.getOrUndefined(Duration.fromInput(text.trim() as Duration.Input))

/** Node's timers support up to 24 days. No setting with a timer needs more than one. */
const maxDuration = Duration.days(1)

export const duration = (minimum: Duration.Duration, maximum = maxDuration) =>
  setting(
    `a number of seconds, or a time such as "30 seconds" or "500 millis", ${
      Duration.isZero(minimum) ? "" : `from ${Duration.format(minimum)} `
    }up to ${Duration.equals(maximum, maxDuration) ? "a day" : Duration.format(maximum)}`,
    ["a number", "text"],
    (value) => {
      const time = durationOf(value)
      return time !== undefined && Duration.between(time, { minimum, maximum }) ? time : undefined
    }
  )

/** The parts of a list; none of an empty text. */
const partsOf = (value: string): ReadonlyArray<string> =>
  value.split(",").map((part) => part.trim()).filter((part) => part !== "")

export const texts = setting("a list of texts, or one text separated by commas", ["text", "a list"], partsOf)

/** The values of all parts; `undefined` if one is not as expected. */
const all = <A>(value: string, parse: (part: string) => A | undefined): ReadonlyArray<A> | undefined => {
  const parsed = partsOf(value).map((part) => parse(part))
  return parsed.every((one) => one !== undefined) ? parsed : undefined
}

/** A network, or an address as the network of itself. An IPv4-mapped one is IPv4 (RFC 4291, section 2.5.5.2). */
const networkOf = (text: string): IpNetwork.IpNetwork | undefined => {
  const network = text.includes("/")
    ? IpNetwork.fromString(text)
    : Result.map(
      NetAddress.ipFromString(text),
      (address) => IpNetwork.fromAddressUnsafe(address, NetAddress.width(address))
    )
  if (Result.isFailure(network)) return undefined
  const { address, prefixLength } = network.success
  const canonical = NetAddress.toCanonical(address)
  return canonical === address
    ? network.success
    : prefixLength < 96
    ? undefined
    : IpNetwork.fromAddressUnsafe(canonical, prefixLength - 96)
}

export const networks = setting(
  "IP addresses and networks such as 10.0.0.0/8, as a list or separated by commas",
  ["text", "a list"],
  (value) => all(value, networkOf)
)

/** `300 per minute`, `10 per 5 minutes`. */
const rateOf = (text: string): Rate | undefined => {
  const [, limit = "", window = ""] = /^\s*(\d{1,9})\s+per\s+(.+)$/u.exec(text) ?? []
  const time = durationOf(/^\d/u.test(window) ? window : `1 ${window}`)
  return Number(limit) >= 1 && time !== undefined &&
      Duration.between(time, { minimum: Duration.seconds(1), maximum: maxDuration })
    ? { limit: Number(limit), window: time }
    : undefined
}

export const rate = setting("a number of requests and a time up to a day, such as 300 per minute", ["text"], rateOf)

/** Browsers send origins in lower case and without a default port. */
const originOf = (text: string): string | undefined => {
  if (text === "*") return text
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOrigin = /^[a-z][a-z\d+.-]*:\/\/[^/?#@\s]+$/iu.test(text)
  return url === undefined || !isOrigin ? undefined : url.origin === "null" ? text.toLowerCase() : url.origin
}

export const origins = setting("* or origins such as https://app.example.com, as a list or separated by commas", [
  "text",
  "a list"
], (value) => all(value, originOf))

const token = /^[\w!#$%&'*+.^`|~-]+$/u

export const names = (nameOf: (part: string) => string) =>
  setting(
    "names, as a list or separated by commas",
    ["text", "a list"],
    (value) => all(value, (part) => token.test(part) ? nameOf(part) : undefined)
  )

export const portion = setting("a number from 0 to 1", ["a number", "text"], (value) => {
  const number = value.trim() === "" ? NaN : Number(value)
  return number >= 0 && number <= 1 ? number : undefined
})

const signalNames = ["traces", "metrics", "logs"] as const

export const signals = setting(
  "traces, metrics or logs, as a list or separated by commas",
  ["text", "a list"],
  (value) => all(value, (part) => signalNames.find((one) => one === part))
)

/** `authorization=Bearer …`, as OpenTelemetry writes headers. */
export const headers = setting(
  "headers such as x-api-key=secret, as a list or separated by commas",
  ["text", "a list"],
  (value) => {
    const pairs = all(value, (part) => {
      const [, name = "", text = ""] = /^([\w-]+)=(.+)$/u.exec(part) ?? []
      return name === "" ? undefined : [name, text] as const
    })
    return pairs === undefined ? undefined : Redacted.make(Object.fromEntries(pairs))
  },
  () => masked
)

export const url = setting("a URL of http or https", ["text"], (value) => {
  const parsed = URL.canParse(value) ? new URL(value) : undefined
  if (parsed?.protocol !== "http:" && parsed?.protocol !== "https:") return undefined
  return value.endsWith("/") ? value.slice(0, -1) : value
}, withoutCredentials)

export const boolean = setting("true or false", ["true or false", "text"], (value) => booleanOf(value))

export const oneOf = <const A extends string>(...values: ReadonlyArray<A>) =>
  setting(
    `one of ${values.join(", ")}`,
    ["text"],
    (value) => values.find((one) => one === value.trim().toLowerCase())
  )
