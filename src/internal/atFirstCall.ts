/** Functions that are made when they are first called, since most of those of a large service are called long after its start. */

/**
 * A function that another one makes at the first call. A service compiles several for each of its models: a start that made all of them
 * would take as long, and as much memory, as there are models.
 */
export const atFirstCall = <Args extends ReadonlyArray<unknown>, A>(
  make: () => (...args: Args) => A
): (...args: Args) => A => {
  let made: ((...args: Args) => A) | undefined
  return (...args) => (made ??= make())(...args)
}
