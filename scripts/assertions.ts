/** What the modules that scripts/examples.ts writes, and their tests, call. */
import { assert } from "@effect/vitest"

const reached = new Set<number>()

/** Asserts what an example says with `// => value`. */
export const assertEqual = <A>(line: number, actual: A, expected: A): void => {
  reached.add(line)
  assert.deepStrictEqual(actual, expected)
}

/** Runs an example, and fails when one of its assertions, known by their lines, was never reached. */
export const example = async (run: () => Promise<unknown>, lines: ReadonlyArray<number>): Promise<void> => {
  await run()
  assert.deepStrictEqual(lines.filter((line) => !reached.has(line)), [], "these lines were never reached")
}
