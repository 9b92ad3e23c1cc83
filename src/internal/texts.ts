/** The messages that the package has in English, with the arguments that each takes. */
import { filled } from "@appkernel/document-store/internal"
import { en } from "./catalogues/en.ts"
import { type Argument, type Label, type Text, worded } from "./text.ts"

/** The key of a message that the package has in English. */
export type Key = keyof typeof en

/** The arguments of a call with a key: those that the English sentence names. */
export type Given<K extends Key> = [Named<(typeof en)[K]>] extends [never] ? []
  : [args: { readonly [N in Named<(typeof en)[K]>]: Argument }]

type Named<S> = S extends `${string}{${infer N}}${infer Rest}` ? N | Named<Rest> : never

/** The message of a key. */
export const textOfKey = <K extends Key>(key: K, ...[args]: Given<K>): Text =>
  args === undefined ? { key } : { key, args }

/** The English message, without plural rules, and with the names of the program. */
export const englishOf = ({ args, key }: Text): string => {
  const sentence: unknown = Reflect.get(en, key)
  return filled(typeof sentence === "string" ? sentence : key, (name) => worded(args?.[name] ?? "", english))
}

const english = { text: englishOf, label: ({ field, model }: Label): string => field ?? model }
