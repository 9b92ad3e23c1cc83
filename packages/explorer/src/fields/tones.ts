import type { SxProps, Theme } from "@mui/material/styles"

/** Hues that are told apart, none of which says that something is wrong. */
const hues = [222, 265, 190, 150, 32, 330, 95, 205]

/** Words that say in most services that all is well, that something waits, or that it failed. */
const known: { readonly [word: string]: number } = {
  active: 145,
  done: 145,
  delivered: 145,
  paid: 145,
  succeeded: 145,
  ok: 145,
  approved: 145,
  published: 145,
  pending: 38,
  waiting: 38,
  paying: 38,
  draft: 38,
  running: 210,
  open: 222,
  placed: 222,
  shipped: 190,
  failed: 4,
  dead: 4,
  cancelled: 4,
  canceled: 4,
  rejected: 4,
  error: 4
}

/** The hue of a member of an enumeration: the same one wherever it is. */
export const hueOf = (value: string): number => {
  let sum = 0
  for (const letter of value) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9973
  return known[value.toLowerCase()] ?? hues[sum % hues.length]!
}

/** The colours of a member of an enumeration, as a chip. */
export const toneOf = (value: string): SxProps<Theme> => {
  const hue = hueOf(value)
  return ({ palette }) =>
    palette.mode === "light"
      ? { backgroundColor: `hsl(${hue} 70% 94%)`, color: `hsl(${hue} 75% 24%)` }
      : { backgroundColor: `hsl(${hue} 35% 20%)`, color: `hsl(${hue} 70% 84%)` }
}
