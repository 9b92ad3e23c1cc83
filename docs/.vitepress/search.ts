// What the search finds, and in which order. The options are data, as they are a part of each page.

/** The options of MiniSearch that differ from those of VitePress. */
export const searchOptions = {
  fuzzy: 0.1,
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 }
}

interface Section {
  readonly anchor: string
  /** The heading, after those that it is below. */
  readonly titles: Array<string>
  readonly text: string
}

const plain = (html: string): string => html.replaceAll(/<[^>]*>/gu, " ").replaceAll("&ZeroWidthSpace;", "").trim()

/** The text with the words of its names: `contentHasher` is found as "content hasher" too. */
const withWords = (text: string): string =>
  text.replaceAll(
    /\b\p{L}\p{Ll}+(?:\p{Lu}\p{Ll}+)+\b/gu,
    (name) => `${name} ${name.replaceAll(/(?=\p{Lu})/gu, " ").trim()}`
  )

/**
 * The sections of a page. API pages are found by the names of their exports only, which stand above the heading and so weigh
 * less: a guide comes before the declarations of what it uses.
 */
export const sectionsOf = (file: string, html: string): Array<Section> => {
  const inApi = /[\\/]api[\\/]/u.test(file)
  const [, ...parts] = html.split(/<h([1-6])[^>]* id="([^"]*)"[^>]*>(.*?)<a [^>]*class="header-anchor"[^]*?<\/h\1>/gu)
  const above: Array<string> = []
  const sections: Array<Section> = []
  for (let index = 0; index < parts.length; index += 4) {
    const [level = "1", anchor = "", heading = "", content = ""] = parts.slice(index, index + 4)
    above.length = Number(level) - 1
    above.push(plain(heading))
    const titles = above.filter((title) => title !== "")
    if (!inApi) sections.push({ anchor, titles, text: withWords(plain(content)) })
    else if (!anchor.startsWith("category-")) {
      const names = titles.filter((_, depth) => depth !== 1 || titles.length < 3)
      sections.push({ anchor, titles: [...names, "API"], text: "" })
    }
  }
  return sections
}
