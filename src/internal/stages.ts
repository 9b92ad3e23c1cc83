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
export interface Stage<in About, in out Part> extends StageRow {
  /** Wraps what follows; `undefined` if it is off. */
  readonly wrap: (about: About) => ((inner: Part) => Part) | undefined
}

/** What runs: the stages that are on, the first one outermost, around the innermost part. */
export const folded = <About, Part>(stages: ReadonlyArray<Stage<About, Part>>, about: About, innermost: Part): Part =>
  stages.reduceRight((inner, { wrap }) => wrap(about)?.(inner) ?? inner, innermost)

/** The stages that are on, the first one outermost. */
export const stagesOn = <About, Part>(
  stages: ReadonlyArray<Stage<About, Part>>,
  about: About
): ReadonlyArray<Stage<About, Part>> => stages.filter(({ wrap }) => wrap(about) !== undefined)
