/** The text as a filter value of a URL without special meaning. */
export const quoted = (text: string): string => `"${text.replaceAll(/["\\]/gu, "\\$&")}"`
