/** Reads a catalogue in JSON and compiles its ICU messages. A problem is reported with its file and key. */
import { getOrMake } from "@appkernel/document-store/internal"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { IntlMessageFormat } from "intl-messageformat"
import { en } from "../../internal/catalogues/en.ts"

/** A text with the file that contains it. */
export interface Entry {
  readonly text: string
  readonly file: string
}

/** A problem of a catalogue and its position. */
export interface Fault {
  readonly file: string
  readonly key?: string
  readonly detail: string
}

/** Reads the texts of a file by key. The keys of nested objects are joined by dots. */
export const parseCatalogue = (text: string, file: string): Result.Result<ReadonlyMap<string, Entry>, Fault> => {
  const json = Result.try({
    try: (): unknown => JSON.parse(text),
    catch: (cause): Fault => ({ file, detail: `it is no JSON: ${Predicate.isError(cause) ? cause.message : "?"}` })
  })
  return Result.flatMap(json, (value) => {
    const entries = new Map<string, Entry>()
    const fault = collect(value, "", file, entries)
    return fault === undefined ? Result.succeed(entries) : Result.fail(fault)
  })
}

/** The message of a language with a key, which is compiled at its first use. */
export type Messages = (key: string) => IntlMessageFormat | undefined

/** The file of the package's own texts, which its tests check. */
export const packaged = "appkernel"

/** The messages of a language. Those of a file that can be no message are a fault. */
export const compile = (
  entries: ReadonlyMap<string, Entry>,
  tag: string
): Result.Result<Messages, Fault> => {
  const messages = new Map<string, IntlMessageFormat>()
  const messageOf = (key: string, text: string) =>
    // English plural rules apply to languages that the platform does not support. Texts contain no markup.
    getOrMake(messages, key, () => new IntlMessageFormat(text, [tag, "en"], undefined, { ignoreTag: true }))
  for (const [key, { file, text }] of entries) {
    if (file === packaged || !syntax.test(text)) continue
    const message = Result.try({
      try: () => messageOf(key, text),
      catch: (cause): Fault => ({ file, key, detail: `it is no ICU message: ${reasonOf(cause)}` })
    })
    if (Result.isFailure(message)) return Result.fail(message.failure)
    const known = argumentsFor(key)
    const other = argumentsIn(message.success.getAst()).find((name) => known?.includes(name) === false)
    if (known !== undefined && other !== undefined) {
      return Result.fail({ file, key, detail: unknownArgument(other, known) })
    }
  }
  return Result.succeed((key) => {
    const entry = entries.get(key)
    return entry && messageOf(key, entry.text)
  })
}

/** What may be wrong in a message has one of these. */
const syntax = /[{}']/u

const collect = (
  value: unknown,
  key: string,
  file: string,
  entries: Map<string, Entry>
): Fault | undefined => {
  const at = key === "" ? { file } : { file, key }
  if (Predicate.isString(value) && key !== "") {
    if (entries.has(key)) return { ...at, detail: "it is there twice" }
    entries.set(key, { text: value, file })
    return undefined
  }
  if (!Predicate.isObject(value)) {
    return { ...at, detail: key === "" ? "it is no object of texts" : "it is neither a text nor an object of texts" }
  }
  for (const [name, inner] of Object.entries(value)) {
    const fault = collect(inner, key === "" ? name : `${key}.${name}`, file, entries)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** `undefined` for a declared error of the application, whose arguments are its fields. */
const argumentsFor = (key: string): ReadonlyArray<string> | undefined => {
  if (/^validators\.is[A-Z]/u.test(key)) return [...ofValidators, ...ofChecks]
  if (key.startsWith("validators.")) return ofValidators
  if (!key.startsWith("errors.")) return []
  const english: unknown = Reflect.get(en, key)
  const known = typeof english === "string" ? english.match(/(?<=\{)\w+(?=\})/gu) ?? [] : undefined
  return known === undefined ? undefined : [...known, ...moreArguments.get(key) ?? []]
}

const ofValidators = ["label", "field", "type", "value"]

/** What Effect's own checks are given. */
const ofChecks =
  "startsWith endsWith includes minSize maxSize minProperties maxProperties minimum maximum exclusiveMinimum exclusiveMaximum"
    .split(" ")

/** Arguments that no English message uses. */
const moreArguments: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["errors.Invalid", ["count"]],
  ["errors.Problem", ["field"]]
])

const unknownArgument = (name: string, known: ReadonlyArray<string>): string =>
  known.length === 0
    ? `it takes no arguments, so {${name}} is not there`
    : `there is no argument {${name}}, only ${known.map((one) => `{${one}}`).join(", ")}`

type Elements = ReturnType<IntlMessageFormat["getAst"]>

/** The names of a message's arguments, including those in the branches of a choice. */
const argumentsIn = (elements: Elements): ReadonlyArray<string> =>
  elements.flatMap((element) => {
    const type: number = element.type
    if (!("value" in element) || type === literal) return []
    const branches = "options" in element ? Object.values(element.options) : []
    return [element.value, ...branches.flatMap(({ value }) => argumentsIn(value))]
  })

/** The element type of literal text. */
const literal = 0

/** The parser throws the name of a syntax rule with its position. */
const reasonOf = (cause: unknown): string => {
  const rule = Predicate.isError(cause) ? cause.message.toLowerCase().replaceAll("_", " ") : "?"
  const location: unknown = Reflect.get(Object(cause), "location")
  const start: unknown = Reflect.get(Object(location), "start")
  const offset: unknown = Reflect.get(Object(start), "offset")
  return Predicate.isNumber(offset) ? `${rule} at character ${offset + 1}` : rule
}
