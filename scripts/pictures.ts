// Puts the pictures of the rooms into docs/architecture.md: `npm run pictures`.
import * as fs from "node:fs"
import * as path from "node:path"
import { pictures } from "./rooms.ts"

/** The text with each picture in the fence behind its mark. */
export const withPictures = (text: string): string => {
  let drawn = text
  for (const [name, picture] of pictures()) {
    const fence = new RegExp(`(<!-- rooms of ${name} -->\n\n\`\`\`mermaid\n)[^]*?(\`\`\`\n)`, "u")
    if (!fence.test(drawn)) throw new Error(`there is no fence for the rooms of ${name}`)
    drawn = drawn.replace(fence, (_, before: string, after: string) => `${before}${picture}\n${after}`)
  }
  return drawn
}

export const architecture = path.join(import.meta.dirname, "../docs/architecture.md")

if (import.meta.main) fs.writeFileSync(architecture, withPictures(fs.readFileSync(architecture, "utf8")))
