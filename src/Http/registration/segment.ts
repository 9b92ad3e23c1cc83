/**
 * The default path segment of a registration: the name of its model or service in the English plural.
 *
 * @since 0.1.0
 */
import type * as Service from "../Service.ts"

/**
 * The name of the model or service.
 *
 * @category models
 * @since 0.1.0
 */
export type NameOf<T> = T extends { readonly modelName: infer Name extends string } ? Name
  : T extends { readonly description: infer D } ? NameOf<D>
  : T extends { readonly model: { readonly modelName: infer Name extends string } } ? Name
  : T extends { readonly name: infer Name extends string } ? Name
  : never

/**
 * The default path segment of a target: its name in lower case, without the suffix `Service`, `Controller` or `Resource`, in
 * the English plural. A service that ends in `s` stays as it is, since few of them have the name of one thing: `SmsService` is
 * `sms`.
 *
 * @category models
 * @since 0.1.0
 */
export type SegmentOf<T> = T extends Service.AnyDescription | Service.Any ? ServiceSegment<Stem<NameOf<T>>>
  : Plural<Stem<NameOf<T>>>

const stemOf = (name: string): string => name.replace(/(?<=.)(?:Service|Controller|Resource)$/u, "").toLowerCase()

/** {@link SegmentOf} of a value. @internal */
export const segmentOf = (name: string): string => {
  const stem = stemOf(name)
  return /[^aeiou]y$/u.test(stem)
    ? `${stem.slice(0, -1)}ies`
    : /(?:s|x|z|ch|sh)$/u.test(stem)
    ? `${stem}es`
    : `${stem}s`
}

/** @internal */
export const serviceSegmentOf = (name: string): string => {
  const stem = stemOf(name)
  return stem.endsWith("s") ? stem : segmentOf(name)
}

type WithoutSuffix<Name extends string> = Name extends `${infer Stem}${"Service" | "Controller" | "Resource"}`
  ? Stem extends "" ? Name : Stem
  : Name

type Stem<Name extends string> = Lowercase<WithoutSuffix<Name>>

type ServiceSegment<Name extends string> = Name extends `${string}s` ? Name : Plural<Name>

type Vowel = "a" | "e" | "i" | "o" | "u"

type Plural<Name extends string> = Name extends `${string}${Vowel}y` ? `${Name}s`
  : Name extends `${infer Stem}y` ? `${Stem}ies`
  : Name extends `${string}${"s" | "x" | "z" | "ch" | "sh"}` ? `${Name}es`
  : `${Name}s`
