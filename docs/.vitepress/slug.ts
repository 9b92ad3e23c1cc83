/** The anchor of a heading, as code hosts make it: lower case, without punctuation, and with a hyphen for each space. */
export const slugOf = (heading: string): string =>
  heading.trim().toLowerCase().replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "").replaceAll(" ", "-")
