/** The types of documents with what a request expands. */
import type * as SchemaAST from "effect/SchemaAST"
import type * as Model from "../../Model/Model.ts"
import type { Selection } from "./documents.ts"

/**
 * A document with the documents that `expand` names: `Paths` is the literal of the parameter. Any of them may be missing, and lack
 * fields, since the caller's grants decide what is there. A path whose reference is declared by the general type `Model.Referable`,
 * or that leads to what refers to the document, has an unknown value.
 *
 * @category models
 * @since 0.1.0
 */
export type Expanded<Document, M extends Model.Any, Paths extends string> = [Paths] extends [never] ? Document
  : Document & {
    readonly _embedded?: string extends Paths ? { readonly [path: string]: unknown }
      : Embedded<Step<M["wire"]["fields"], Each<Paths>, "">>
  }

// internal

/** The paths of a list. */
type Each<Paths extends string> = Paths extends `${infer Path},${infer Others}` ? Path | Each<Others> : Paths

/** A reference, and the path that goes on behind it. */
interface Reference<Name extends string, Target, Rest extends string, IsList extends boolean> {
  readonly name: Name
  readonly target: Target
  readonly rest: Rest
  readonly isList: IsList
}

type AnyReference = Reference<string, unknown, string, boolean>

/** The reference that a path begins with. */
type Step<Fields, Path extends string, Prefix extends string, IsList extends boolean = false> = Path extends
  keyof Fields ? At<Fields[Path], `${Prefix}${Path}`, "", IsList>
  : Path extends `${infer Name}.${infer Rest}`
    ? Name extends keyof Fields ? At<Fields[Name], `${Prefix}${Name}`, Rest, IsList>
    : Reference<`${Prefix}${Name}`, unknown, Rest, IsList>
  : Reference<`${Prefix}${Path}`, unknown, "", IsList>

type At<S, Name extends string, Rest extends string, IsList extends boolean> = "~Referring" extends keyof S
  ? Reference<Name, Exclude<S["~Referring"], undefined>, Rest, IsList>
  : S extends { readonly ast: SchemaAST.Arrays; readonly value: infer Item } ? At<Item, Name, Rest, true>
  : S extends { readonly ast: SchemaAST.Union; readonly members: readonly [infer Inner, ...ReadonlyArray<unknown>] }
    ? At<Inner, Name, Rest, IsList>
  : S extends { readonly schema: infer Inner; readonly "~type.optionality": "optional" } ? At<Inner, Name, Rest, IsList>
  : S extends { readonly fields: infer Fields } ? Step<Fields, Rest, `${Name}.`, IsList>
  : Reference<Name, unknown, Rest, IsList>

type Embedded<R extends AnyReference> = {
  readonly [Name in R["name"]]?: Value<Extract<R, { readonly name: Name }>>
}

type Value<R extends AnyReference> = R["target"] extends Model.Any
  ? R["isList"] extends true ? ReadonlyArray<Target<R["target"], Exclude<R["rest"], "">>>
  : Target<R["target"], Exclude<R["rest"], "">>
  : unknown

type Target<M extends Model.Any, Paths extends string> = Expanded<Selection<M>["Type"], M, Paths>
