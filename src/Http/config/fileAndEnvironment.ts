/** Checks `cfg.yml` and the environment at startup: unknown keys with suggestions, wrong types and invalid values. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Result from "effect/Result"
import { filePathOf, pathOf, root, rows, variableOf } from "../../internal/configurationKeys.ts"
import type { Kind } from "../../internal/settingTypes.ts"
import { fileSuffix } from "./secretFiles.ts"

/** The text of a file; `undefined` if it does not exist. */
export const readFileText = (file: string): Effect.Effect<string | undefined, string, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (files) => files.readFileString(file)).pipe(
    Effect.catchTag(
      "PlatformError",
      ({ reason }) => reason._tag === "NotFound" ? Effect.undefined : Effect.fail(`it can't be read (${reason._tag})`)
    )
  )

/** The problems of a configuration, and the warnings about unused keys. */
interface Findings {
  readonly problems: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
}

/** Checks every key under `appkernel` in the file and in the environment, whether or not the program reads it. */
export const checkKeys = Effect.fnUntraced(function*(
  environment: ConfigProvider.ConfigProvider,
  content: unknown,
  file: string
) {
  const problems: Array<string> = []
  const warnings: Array<string> = []
  for (const [key, { expected, kinds, parse }] of rows) {
    const name = `${root}.${key}`
    const loaded = yield* Effect.result(environment.load(pathOf(key)))
    if (Result.isFailure(loaded)) {
      problems.push(loaded.failure.message)
      continue
    }
    const inEnvironment = loaded.success?.value
    const given = inEnvironment ?? (yield* textAt(environment, filePathOf(key)))
    if (given !== undefined) {
      if (parse(given) === undefined) {
        const place = inEnvironment === undefined ? `${name} of the program` : `${variableOf(key)} (${name})`
        problems.push(`${place} is ${kindOfText(given)}, expected ${expected}`)
      }
      continue
    }
    const inFile = valueAt(content, filePathOf(key))
    const text = textAtKey(content, filePathOf(key))
    if (text === undefined) continue
    const kind = kindOf(inFile)
    const isExpected = kinds.includes(kind)
      && (!Array.isArray(inFile) || areTexts(inFile))
      && parse(text) !== undefined
    if (!isExpected) {
      const hint = kind === "a number" && !kinds.includes(kind) ? ", so in quotes" : ""
      problems.push(`${name} in ${file} is ${kind}, expected ${expected}${hint}`)
    }
  }
  for (const [name, value] of sectionsOf(content)) {
    if (value !== null && !isMapping(value)) problems.push(`${name} in ${file} is ${kindOf(value)}, expected a mapping`)
  }
  for (const key of keysIn(valueAt(content, [root]), "")) {
    if (!isKnown(key)) {
      warnings.push(`${root}.${key} in ${file} is no key of the configuration and means nothing${nearTo(key)}`)
    }
  }
  for (const path of yield* leavesIn(environment, [root])) {
    const key = path.slice(1).join(".")
    if (!isKnown(key)) {
      warnings.push(`${root}.${key} of the program is no key of the configuration and means nothing${nearTo(key)}`)
    }
  }
  for (const path of yield* leavesIn(environment, [root.toUpperCase()])) {
    const name = path.join("_")
    if (!variables.has(name)) {
      const candidate = nearest(name, variables)
      warnings.push(
        `${name} in the environment is no key of the configuration and means nothing${didYouMean(candidate)}`
      )
    }
  }
  const findings: Findings = { problems, warnings }
  return findings
})

/** Layers the environment, with paths as given or in upper case, over the file, with paths in lower case. */
export const layered = (
  environment: ConfigProvider.ConfigProvider,
  content: unknown
): ConfigProvider.ConfigProvider => {
  const file = ConfigProvider.fromUnknown(content)
  const given = ConfigProvider.orElse(withCase(environment, (part) => part.toUpperCase()), inLowerCase(environment))
  return ConfigProvider.orElse(given, inLowerCase(file))
}

const inLowerCase = (provider: ConfigProvider.ConfigProvider) => withCase(provider, (part) => part.toLowerCase())

const withCase = (provider: ConfigProvider.ConfigProvider, change: (part: string) => string) =>
  ConfigProvider.orElse(
    provider,
    ConfigProvider.mapInput(provider, (path) => path.map((part) => typeof part === "string" ? change(part) : part))
  )

const isMapping = (u: unknown): u is { readonly [key: string]: unknown } =>
  typeof u === "object" && u !== null && !Array.isArray(u)

const valueAt = (content: unknown, path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((value, key) => isMapping(value) && Object.hasOwn(value, key) ? value[key] : undefined, content)

const kindOf = (value: unknown): Kind =>
  typeof value === "number" || typeof value === "bigint"
    ? "a number"
    : typeof value === "boolean"
    ? "true or false"
    : Array.isArray(value)
    ? "a list"
    : isMapping(value)
    ? "a mapping"
    : "text"

const kindOfText = (value: string): Kind => value.trim() !== "" && Number.isFinite(Number(value)) ? "a number" : "text"

const areTexts = (list: ReadonlyArray<unknown>): boolean =>
  list.every((element) => typeof element === "string" && element !== "")

const keys: ReadonlyArray<string> = rows.map(([key]) => key)
/** The paths of mappings that have keys: `server`, `client.circuit_breaker`. */
const sections = new Set(
  keys.flatMap((key) => key.split(".").slice(0, -1).map((_, i, parts) => parts.slice(0, i + 1).join(".")))
)
// The keys of tokens have short names beside those of the configuration.
const variables = new Set(
  [...keys.map(variableOf), "APPKERNEL_PRIVATE_KEY_PATH", "APPKERNEL_PUBLIC_KEY_PATH"]
    .flatMap((name) => [name, `${name}${fileSuffix}`])
    // The primary process numbers its workers.
    .concat("APPKERNEL_WORKER")
)

/** The parts of a file that have to be mappings, with their values. */
const sectionsOf = (content: unknown): ReadonlyArray<readonly [string, unknown]> => {
  if (content === undefined || content === null) return []
  if (!isMapping(content)) return [["the content", content]]
  const inner = content[root]
  if (inner === undefined || inner === null) return []
  if (!isMapping(inner)) return [[root, inner]]
  return [...sections].flatMap((section) => {
    const value = valueAt(inner, section.split("."))
    return value === undefined ? [] : [[`${root}.${section}`, value] as const]
  })
}

/** The paths of a mapping's leaves. A mapping under a key or in an unknown section is a leaf. */
const keysIn = (value: unknown, prefix: string): ReadonlyArray<string> =>
  isMapping(value)
    ? Object.entries(value).flatMap(([key, inner]) => {
      const path = prefix === "" ? key : `${prefix}.${key}`
      return sections.has(path) ? keysIn(inner, path) : [path]
    })
    : []

const isKnown = (key: string): boolean => keys.includes(key)

/** The text of a value of a file; that of a list has commas. */
export const textAtKey = (content: unknown, path: ReadonlyArray<string>): string | undefined => {
  const value = valueAt(content, path)
  if (value === undefined || value === null) return undefined
  // No setting's kinds have a mapping.
  return Array.isArray(value) ? value.join() : `${value as string | number}`
}

/** The text of a value; that of a list has commas. */
export const textAt = Effect.fnUntraced(
  function*(provider: ConfigProvider.ConfigProvider, path: ReadonlyArray<string>) {
    const node = yield* provider.load(path)
    if (node?._tag !== "Array") return node?.value
    const items = yield* Effect.forEach(
      Array.from({ length: node.length }, (_, i) => i),
      (i) => provider.load([...path, i])
    )
    return items.map((item) => item?.value ?? "").join()
  }
)

/** The paths of the values below a path. A list is one value. */
const leavesIn = (
  environment: ConfigProvider.ConfigProvider,
  path: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<ReadonlyArray<string>>, ConfigProvider.SourceError> =>
  Effect.flatMap(environment.load(path), (node) => {
    if (node === undefined) return Effect.succeed([])
    const own = node.value === undefined && node._tag !== "Array" ? [] : [path]
    if (node._tag !== "Record") return Effect.succeed(own)
    return Effect.map(
      Effect.forEach(node.keys, (key) => leavesIn(environment, [...path, key])),
      (inner) => [...own, ...inner.flat()]
    )
  })

const nearTo = (key: string): string => {
  const candidate = nearest(key, keys)
  return didYouMean(candidate === undefined ? undefined : `${root}.${candidate}`)
}

const didYouMean = (candidate: string | undefined): string => candidate === undefined ? "" : `; is it ${candidate}?`

/** Up to two typos; a greater distance suggests another word. */
const nearest = (name: string, candidates: Iterable<string>): string | undefined => {
  let best: string | undefined
  let maxDistance = 3
  for (const candidate of candidates) {
    const distance = distanceOf(name, candidate)
    if (distance < maxDistance) {
      maxDistance = distance
      best = candidate
    }
  }
  return best
}

/** The Levenshtein distance. */
const distanceOf = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[b.length]!
}
