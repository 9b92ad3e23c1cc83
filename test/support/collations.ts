/** Generated texts and collations, and how `Intl` compares by them. */
import { Arbitrary } from "effect"
import type { Collation } from "../../packages/document-store/src/DocumentStore.ts"
import { oneOf } from "./choices.ts"

const pieces = [
  "a",
  "A",
  "á",
  "ä",
  "ae",
  "æ",
  "b",
  "c",
  "ch",
  "h",
  "e",
  "é",
  "e\u0301",
  "ss",
  "ß",
  "-",
  " ",
  "1",
  "9",
  "10"
]

/** Texts that languages compare differently. */
export const text = Arbitrary.map(
  Arbitrary.array(oneOf(...pieces, "o", "ö", "oe", "z", "Z", "å", "aa", "ж", "漢", "字", "가", "𐐀"), { maxLength: 4 }),
  (parts) => parts.join("")
)

export interface Pair {
  readonly mongo: Collation
  readonly intl: Intl.Collator
}

const collations: ReadonlyArray<Pair> = [
  { mongo: { locale: "en" }, intl: new Intl.Collator("en") },
  { mongo: { locale: "en", strength: 2 }, intl: new Intl.Collator("en", { sensitivity: "accent" }) },
  { mongo: { locale: "sv", strength: 1 }, intl: new Intl.Collator("sv", { sensitivity: "base" }) },
  {
    mongo: { locale: "cs", strength: 1, caseLevel: true },
    intl: new Intl.Collator("cs", { sensitivity: "case" })
  },
  {
    mongo: { locale: "de@collation=phonebook", numericOrdering: true },
    intl: new Intl.Collator("de-u-co-phonebk", { numeric: true })
  },
  {
    mongo: { locale: "da", alternate: "shifted" },
    intl: new Intl.Collator("da", { ignorePunctuation: true })
  }
]

export const anyCollation = oneOf(...collations)
