/** Reads secrets from the files that variables ending in `_FILE` name, as Docker and Kubernetes mount them. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"

/** What a variable ends with that names the file of a value. */
export const fileSuffix = "_FILE"

/**
 * Reads the values of variables from files: `APPKERNEL_MONGO_HOST_FILE` names the file of `APPKERNEL_MONGO_HOST`. Line breaks at
 * its end are no part of the value. Fails if both are set, or the file can't be read.
 */
export const withSecretFiles = (
  environment: ConfigProvider.ConfigProvider,
  files: FileSystem.FileSystem
): ConfigProvider.ConfigProvider =>
  ConfigProvider.make((path) =>
    Effect.gen(function*() {
      const node = yield* environment.load(path)
      const last = path.at(-1)
      if (typeof last !== "string" || last !== last.toUpperCase() || node?._tag === "Array") return node
      const place = (yield* environment.load([...path.slice(0, -1), `${last}${fileSuffix}`]))?.value
      if (place === undefined || place === "") return isSuffixOnly(node) ? undefined : node
      const name = path.join("_")
      if (node?.value !== undefined && node.value !== "") {
        return yield* refused(`${name} and ${name}${fileSuffix} are both set, expected one of them`)
      }
      const text = yield* Effect.catchTag(
        files.readFileString(place),
        "PlatformError",
        ({ reason }) => refused(`${name}${fileSuffix} names ${place}, which can't be read (${reason._tag})`)
      )
      return ConfigProvider.makeValue(withoutLastLineEnds(text))
    })
  )

const withoutLastLineEnds = (text: string): string => {
  let end = text.length
  while (end > 0 && /[\r\n]/u.test(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}

/** An empty variable of a file leaves a node behind. */
const isSuffixOnly = (node: ConfigProvider.Node | undefined): boolean =>
  node?._tag === "Record" && node.value === undefined && [...node.keys].every((key) => `_${key}` === fileSuffix)

const refused = (message: string) => Effect.fail(new ConfigProvider.SourceError({ message }))
