/**
 * The effective configuration with the origin of each value, for `appkernel config` and for reloads, which compare two
 * of them.
 */
import type * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { filePathOf, pathOf, root, rows } from "../../internal/configurationKeys.ts"
import { textAt, textAtKey } from "./fileAndEnvironment.ts"
import { fileSuffix } from "./secretFiles.ts"

/** A key of the configuration with its value. */
export interface InForce {
  /** The path of the key without `appkernel`: `server.port`. */
  readonly key: string
  /** The value as it is written, with secrets masked. That of a default may be a sentence. */
  readonly value: string
  /** Where the value comes from: a file that a variable names is `secret file`. */
  readonly source: "default" | "cfg.yml" | "environment" | "secret file" | "program"
  /** The variable or the file; `undefined` for a default. */
  readonly place: string | undefined
  /** The text as it is read. @internal */
  readonly text: Redacted.Redacted | undefined
}

/** All keys with their values. The environment is without the values of secret files. @internal */
export const inForce = Effect.fnUntraced(function*(
  { content, environment, file, given }: {
    readonly environment: ConfigProvider.ConfigProvider
    /** The environment with the values of secret files. */
    readonly given: ConfigProvider.ConfigProvider
    readonly content: unknown
    readonly file: string
  }
) {
  const one = Effect.fnUntraced(function*([key, { otherwise, shown }]: (typeof rows)[number]) {
    const found = (text: string, source: InForce["source"], place: string): InForce => ({
      key,
      value: shown(text),
      source,
      place,
      text: Redacted.make(text)
    })
    for (const path of [...shortPaths.get(key) ?? [], pathOf(key)]) {
      const text = (yield* given.load(path))?.value
      if (text === undefined || text === "") continue
      const name = path.join("_")
      if ((yield* environment.load(path))?.value !== undefined) return found(text, "environment", name)
      return found(text, "secret file", `${name}${fileSuffix}`)
    }
    const fromProgram = yield* textAt(given, filePathOf(key))
    if (fromProgram !== undefined) return found(fromProgram, "program", `${root}.${key}`)
    const fromFile = textAtKey(content, filePathOf(key))
    if (fromFile !== undefined) return found(fromFile, "cfg.yml", file)
    const none: InForce = {
      key,
      value: otherwise.replaceAll("`", ""),
      source: "default",
      place: undefined,
      text: undefined
    }
    return none
  })
  return yield* Effect.forEach(rows, (row) => one(row))
})

/** What changed between two configurations. @internal */
export const configurationChanges = (
  before: ReadonlyArray<InForce>,
  after: ReadonlyArray<InForce>
): ReadonlyArray<InForce> => {
  const texts = new Map(before.map((one) => [one.key, revealedText(one)]))
  return after.filter((one) => texts.get(one.key) !== revealedText(one))
}

const revealedText = ({ text }: InForce): string | undefined => text === undefined ? undefined : Redacted.value(text)

/** The variables that count before those of the keys. */
const shortPaths = new Map(
  ["security.private_key_path", "security.public_key_path"].map((key) => [
    key,
    [[root.toUpperCase(), (key.split(".").at(-1) ?? "").toUpperCase()]]
  ])
)
