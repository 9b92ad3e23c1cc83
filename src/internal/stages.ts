/** The stages that a request or an operation meets on its way, as data: one list says what happens, and its fold is what runs. */

/** What is known of a stage without running it. */
export interface StageRow {
  /** A few words, by which other stages of the list name it. */
  readonly name: string
  /** What it does, in a sentence. */
  readonly does: string
  /** What turns it on, in the words of a user. */
  readonly when: string
  /** The stages that it has to stand before, each with the reason. */
  readonly before?: { readonly [name: string]: string }
}

/** What wraps all that comes after it. */
export interface Stage<in About, in out Part, in out AtOnce = never> extends StageRow {
  /** Wraps what follows; `undefined` if it is off. */
  readonly wrap: (about: About) => ((inner: Part) => Part) | undefined
  /** Wraps, as `wrap` does, what follows in the form that needs no fiber. A stage without it needs one where it is on. */
  readonly atOnce?: (about: About) => ((inner: AtOnce) => AtOnce) | undefined
}

/** What runs: the stages that are on, the first one outermost, around the innermost part. */
export const folded = <About, Part>(
  stages: ReadonlyArray<Pick<Stage<About, Part>, "wrap">>,
  about: About,
  innermost: Part
): Part => stages.reduceRight((inner, { wrap }) => wrap(about)?.(inner) ?? inner, innermost)

/** What runs without a fiber; `undefined` if a stage that is on needs one. */
export const foldedAtOnce = <About, Part, AtOnce>(
  stages: ReadonlyArray<Stage<About, Part, AtOnce>>,
  about: About,
  innermost: AtOnce
): AtOnce | undefined =>
  stages.reduceRight<AtOnce | undefined>(
    (inner, { atOnce, wrap }) => inner === undefined || wrap(about) === undefined ? inner : atOnce?.(about)?.(inner),
    innermost
  )

/** The stages that are on, the first one outermost. */
export const stagesOn = <About, Part, AtOnce>(
  stages: ReadonlyArray<Stage<About, Part, AtOnce>>,
  about: About
): ReadonlyArray<Stage<About, Part, AtOnce>> => stages.filter(({ wrap }) => wrap(about) !== undefined)
