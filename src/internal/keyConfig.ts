/**
 * Keys of the configuration under `appkernel`, in the case of the environment or that of the file.
 */
import * as Config from "effect/Config"
import * as Option from "effect/Option"

/**
 * The sections and the name of a key, in upper case: `["MONGO", "HOST"]`.
 *
 * @internal
 */
export type Path = readonly [string, ...ReadonlyArray<string>]

/**
 * The value at a path such as `MONGO_HOST` or `mongo.host`, with the sections of the path in upper case first. What a program
 * gives as a `ConfigProvider` has the keys as the file has them.
 *
 * @internal
 */
export const keyConfig = <A>(
  of: (name: string) => Config.Config<A>,
  ...path: Path
): Config.Config<A> =>
  Config.flatMap(
    Config.option(nested(of, ["APPKERNEL", ...path])),
    Option.match({
      onNone: () => nested(of, ["appkernel", ...path.map((name) => name.toLowerCase())]),
      onSome: Config.succeed
    })
  )

const nested = <A>(of: (name: string) => Config.Config<A>, path: ReadonlyArray<string>): Config.Config<A> =>
  path.slice(0, -1).reduceRight((config, section) => Config.nested(config, section), of(path.at(-1) ?? ""))
