/** Generated collations. */
import type { Collation } from "../../../packages/document-store/src/DocumentStore.ts"
import { oneOf, type Some } from "../choices.ts"

export const collations: Some<Collation> = oneOf<Collation>(
  { locale: "en" },
  { locale: "en", strength: 1 },
  { locale: "en", strength: 2 },
  { locale: "en", strength: 1, caseLevel: true },
  { locale: "en", caseFirst: "upper" },
  { locale: "en_US", numericOrdering: true },
  { locale: "en", alternate: "shifted" },
  { locale: "sv", strength: 2 },
  { locale: "de@collation=phonebook", strength: 1 },
  { locale: "simple" }
)
