/** Generates example texts for the OpenAPI document that match a format, a pattern and a length. */
import * as Option from "effect/Option"
import type { Node } from "./node.ts"

/** A text that satisfies the schema; `undefined` if none is found. */
export const sampleText = ({ contentEncoding, format, maxLength, minLength, pattern }: Node): string | undefined => {
  const shortest = Number(minLength ?? 0)
  const longest = Number(maxLength ?? Number.POSITIVE_INFINITY)
  const isFit = (text: string): boolean => text.length >= shortest && text.length <= longest
  const known = typeof format === "string" ? formats.get(format) : undefined
  if (known !== undefined && isFit(known)) return known
  if (contentEncoding !== undefined || shortest > maxText) return undefined
  if (typeof pattern !== "string") return "text".padEnd(shortest, "x").slice(0, longest)
  const expression = compiled(pattern)
  if (expression._tag === "None") return undefined
  return [1, shortest, 0].map((repeats) => new Sampler(pattern, repeats).text()).find((text) =>
    text !== undefined && isFit(text) && expression.value.test(text)
  )
}

/** A document may contain patterns of other dialects. */
const compiled = Option.liftThrowable((pattern: string) => new RegExp(pattern, "u"))

/** The maximum length of a sample. */
const maxText = 1_000

const formats: ReadonlyMap<string, string> = new Map([
  ["email", "jane@example.com"],
  ["uuid", "7f2c1b9e-0d3a-4c55-9b1a-6f0e8d2c4a10"],
  ["uri", "https://example.com/"],
  ["date", "2026-01-31"],
  ["date-time", "2026-01-31T09:30:00Z"]
])

/** Writes a text for a pattern's first alternatives. It skips assertions: callers test whether the text matches. */
class Sampler {
  readonly #pattern: string
  readonly #repeats: number
  #at = 0

  constructor(pattern: string, repeats: number) {
    this.#pattern = pattern
    this.#repeats = repeats
  }

  text(): string | undefined {
    const text = this.#alternatives()
    return this.#at < this.#pattern.length || text.length > maxText ? undefined : text
  }

  #alternatives(): string {
    let first: string | undefined
    for (;;) {
      const text = this.#sequence()
      first ??= text
      if (this.#pattern[this.#at] !== "|") return first
      this.#at++
    }
  }

  #sequence(): string {
    let text = ""
    while (this.#at < this.#pattern.length && !/[|)]/u.test(this.#pattern[this.#at]!)) {
      const atom = this.#atom()
      text += atom.repeat(Math.min(this.#count(), maxText))
    }
    return text
  }

  #atom(): string {
    const char = this.#take(/[^]/uy) ?? ""
    switch (char) {
      case "^":
      case "$":
        return ""
      case ".":
        return "a"
      case "\\":
        return this.#escape()
      case "[":
        return this.#class()
      case "(": {
        const kind = this.#take(/\?(?:<?[=!]|:|<\w+>)/uy) ?? ""
        const inner = this.#alternatives()
        this.#at++
        return /[=!]$/u.test(kind) ? "" : inner
      }
      default:
        return char
    }
  }

  #count(): number {
    const quantifier = this.#take(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/uy)
    if (quantifier === undefined) return 1
    if (quantifier.startsWith("?")) return Math.min(1, this.#repeats)
    if (quantifier.startsWith("*")) return this.#repeats
    if (quantifier.startsWith("+")) return Math.max(1, this.#repeats)
    const [least = 0, most = least] = quantifier.replaceAll(/[{}?]/gu, "").split(",").map((part) =>
      part === "" ? Number.POSITIVE_INFINITY : Number(part)
    )
    return Math.min(most, Math.max(least, this.#repeats))
  }

  #escape(): string {
    const escape = this.#take(/u\{[\da-f]+\}|u[\da-f]{4}|x[\da-f]{2}|[pP]\{[^}]*\}|[^]/uiy) ?? ""
    if (/^[ux]/u.test(escape) && escape.length > 1) {
      return String.fromCodePoint(Number.parseInt(escape.slice(1).replaceAll(/[{}]/gu, ""), 16))
    }
    if (/^[pP]\{/u.test(escape)) return "a"
    return escapes.get(escape) ?? escape
  }

  /** The first character of a class, or one outside of a negated class. */
  #class(): string {
    const isNegated = this.#take(/\^/uy) !== undefined
    const chars: Array<string> = []
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== "]") {
      const char = this.#take(/[^]/uy) ?? ""
      chars.push(char === "\\" ? this.#escape() : char)
    }
    this.#at++
    return isNegated ? "a0 -_.".split("").find((char) => !chars.includes(char)) ?? "" : chars[0] ?? ""
  }

  #take(expression: RegExp): string | undefined {
    expression.lastIndex = this.#at
    const taken = expression.exec(this.#pattern)?.[0]
    this.#at += taken?.length ?? 0
    return taken
  }
}

const escapes: ReadonlyMap<string, string> = new Map([
  ["d", "0"],
  ["D", "a"],
  ["w", "a"],
  ["W", "-"],
  ["s", " "],
  ["S", "a"],
  ["b", ""],
  ["B", ""],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"]
])
