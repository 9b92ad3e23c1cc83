/** Parses MongoDB's connection strings and keeps their credentials secret. */
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"

/** The address of a MongoDB deployment; only the driver sees its credentials. */
export interface MongoAddress {
  /** The URL for the driver, credentials included. */
  readonly url: Redacted.Redacted<string>
  /** `db.example:27017`, several separated by commas; no credentials. */
  readonly hosts: string
  /** The database that the URL names. */
  readonly database: string | undefined
  /** Whether the URL sets the option; their names ignore case. */
  readonly sets: (option: string) => boolean
  /** The text without passwords, tokens and the user part of any URL. */
  readonly redact: (text: string) => string
}

const defaultPort = 27017

// A raw "@", "/" or "?" in a user or a password must be percent-encoded, so an ambiguous URL does not match.
const urlPattern = /^mongodb(\+srv)?:\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/([^@/?#\\. "$]*))?(?:\?([^@#]*))?$/i

const hostPattern = /^(?:\[[0-9a-f:.%]+\]|[^\s:@/?#[\]]+)(?::\d{1,5})?$/i

const secretOption = /password|token|secret|properties/i

const urlUser = /\/\/[^@\s/]*@/g

const decode = Option.liftThrowable(decodeURIComponent)

const withPort = (host: string): string => /:\d+$/.test(host) ? host : `${host}:${defaultPort}`

/**
 * Parses a bare host, `host:port`, several of these separated by commas, or a `mongodb://` or `mongodb+srv://` URL.
 * `undefined` for any other text; no reason is given, since the text may contain a password.
 */
export const parseAddress = (text: string): MongoAddress | undefined => {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `mongodb://${text}`
  const match = urlPattern.exec(url)
  if (match === null) return undefined
  const [, srv, user = "", hostList = "", database, query = ""] = match
  const hosts = hostList.split(",")
  if (!hosts.every((host) => hostPattern.test(host))) return undefined
  const options = query.split("&").filter((pair) => pair !== "").map((pair) => {
    const at = pair.indexOf("=")
    return at < 0 ? { name: pair.toLowerCase(), value: "" } : {
      name: pair.slice(0, at).toLowerCase(),
      value: pair.slice(at + 1)
    }
  })
  const colon = user.indexOf(":")
  const written = [
    ...(colon < 0 ? [] : [user.slice(colon + 1)]),
    ...options.filter((option) => secretOption.test(option.name)).map((option) => option.value)
  ].filter((secret) => secret !== "")
  const decoded = written.map(decode)
  const databaseName = database === undefined || database === "" ? Option.some(undefined) : decode(database)
  if (Option.isNone(databaseName) || decoded.some(Option.isNone)) return undefined
  const secrets = [
    ...new Set([
      ...written,
      ...decoded.flatMap((_) => Option.toArray(_)).flatMap((secret) => [secret, encodeURIComponent(secret)])
    ])
  ].toSorted((a, b) => b.length - a.length)
  const names = new Set(options.map((option) => option.name))
  return {
    url: Redacted.make(url),
    hosts: srv === undefined ? hosts.map(withPort).join(",") : hostList,
    database: databaseName.value,
    sets: (option) => names.has(option.toLowerCase()),
    redact: (message) =>
      secrets.reduce((clean, secret) => clean.replaceAll(secret, "<redacted>"), message)
        .replace(urlUser, "//<redacted>@")
  }
}
