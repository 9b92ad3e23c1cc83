/**
 * Keys of the configuration under `appkernel`, in the case of the environment or that of the file. A duration is a
 * number of seconds, or a text such as `500 millis`.
 */
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { bytesOf } from "./sizes.ts"

/** The sections and the name of a key, in upper case: `["MONGO", "HOST"]`. */
export type Path = readonly [string, ...ReadonlyArray<string>]

/** The value at a path such as `MONGO_HOST` or `mongo.host`, first with its sections in upper case. */
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

/** Parses a duration; `undefined` for any other text. */
export const durationOf = (text: string): Duration.Duration | undefined =>
  /^\s*\d+(\.\d+)?\s*$/u.test(text)
    ? Duration.seconds(Number(text))
    // The type lists only valid texts; the parser checks at run time and returns none for others.
    : Option.getOrUndefined(Duration.fromInput(text.trim() as Duration.Input))

/** An optional value of the configuration; `of` gives `undefined` for a text that is none. */
export const parsedConfig = <A>(
  of: (text: string) => A | undefined,
  expected: string,
  path: Path
): Config.Config<A | undefined> =>
  Config.option(keyConfig(Config.String, ...path)).pipe(Config.mapEffect((text) => {
    if (text._tag === "None") return Effect.succeed(undefined)
    const value = of(text.value)
    return value === undefined
      ? Effect.fail(
        new Config.ConfigError(
          new ConfigProvider.SourceError({ message: `APPKERNEL_${path.join("_")}: expected ${expected}` })
        )
      )
      : Effect.succeed(value)
  }))

/** An optional duration of the configuration. */
export const durationConfig = (...path: Path): Config.Config<Duration.Duration | undefined> =>
  parsedConfig(durationOf, `a number of seconds, or a time such as "30 seconds" or "500 millis"`, path)

/** An optional number of bytes of the configuration. */
export const sizeConfig = (...path: Path): Config.Config<number | undefined> =>
  parsedConfig(bytesOf, `a number of bytes from 1, or a size such as "64 MiB"`, path)
