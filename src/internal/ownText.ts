/** Copies of texts for caches, which would keep all of a longer text alive by a part of it. */

/** The text in memory of its own. A part of a longer text may refer to the longer one, which then stays in memory as well. */
export const ownText = (text: string): string => structuredClone(text)
