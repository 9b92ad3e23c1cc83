/** Writes characters beyond ASCII as escapes: a file with one of them is in memory with two bytes for each character. */
import type { Plugin } from "rolldown"
import type * as Utils from "rolldown/utils"

/** A plugin for strings and templates. Regular expressions and tagged templates stay, since programs read their source. */
export const oneByteTexts = ({ parseSync, Visitor }: typeof Utils): Plugin => ({
  name: "one byte texts",
  generateBundle(_options, files) {
    for (const file of Object.values(files)) {
      if (file.type !== "chunk" || !beyondAscii.test(file.code)) continue
      const { code } = file
      const texts: Array<{ readonly start: number; readonly end: number }> = []
      const tagged = new Set<number>()
      new Visitor({
        TaggedTemplateExpression: ({ quasi }) => {
          for (const { start } of quasi.quasis) tagged.add(start)
        },
        TemplateElement: (element) => {
          if (!tagged.has(element.start)) texts.push(element)
        },
        Literal: (literal) => {
          if (typeof literal.value === "string") texts.push(literal)
        }
      }).visit(parseSync(file.fileName, code).program)
      let written = ""
      let from = 0
      // The texts of a template are visited before the values between them.
      for (const { end, start } of texts.toSorted((one, other) => one.start - other.start)) {
        written += code.slice(from, start) + escaped(code.slice(start, end))
        from = end
      }
      file.code = written + code.slice(from)
    }
  }
})

// internal

const beyondAscii = /[\u{80}-\u{10ffff}]/u

const escaped = (text: string): string =>
  text.replace(/\\[^]|[\u{80}-\u{10ffff}]/gu, (found) => {
    const character = found.startsWith("\\") ? found.slice(1) : found
    if (!beyondAscii.test(character)) return found
    // A line that goes on in the next one has no character there.
    if (found !== character && /[\u2028\u2029]/u.test(character)) return ""
    return character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")
  })
