/** The folders that commands are given. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as EmbeddedStore from "../../Repository/EmbeddedStore.ts"
import { withConfig } from "./engineModule.ts"
import { CommandFailed } from "./output.ts"

/** A path. Fails for the address of a server, such as `http://…` or `localhost:27017`, which may have a password in it. */
export const folderPath = (given: string): Effect.Effect<string, CommandFailed> => {
  const [scheme] = /^[^/\\]{2,}?:/u.exec(given) ?? []
  return scheme === undefined
    ? Effect.succeed(given)
    : new CommandFailed({
      detail: `An address that begins with ${scheme} can't be used here, only a folder or mongodb://…`,
      code: 2
    })
}

/** The folder that is given, otherwise the configured one. */
export const folderOf = (given: Option.Option<string>) =>
  Option.isSome(given)
    ? folderPath(given.value)
    : withConfig(Effect.map(Effect.suspend(() => EmbeddedStore.config), ({ path }) => path))
