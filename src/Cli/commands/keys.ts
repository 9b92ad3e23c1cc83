/** The command `keys`, which makes the pair of keys that signs and verifies tokens. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import * as Keys from "../../Security/Keys.ts"
import { reported } from "./output.ts"

/** Makes a pair of keys for tokens. */
export const keysCommand = Command.make(
  "keys",
  {
    folder: Argument.String("folder").pipe(
      Argument.withDescription("The folder that gets private.pem and public.pem. Defaults to keys"),
      Argument.withDefault("keys")
    ),
    algorithm: Flag.Literals("algorithm", ["RS256", "ES256", "EdDSA"]).pipe(
      Flag.withDescription("The algorithm of signatures: RS256 (RSA), ES256 (P-256) or EdDSA (Ed25519)"),
      Flag.withDefault("RS256" as const)
    )
  },
  Effect.fnUntraced(
    function*({ algorithm, folder }) {
      const path = yield* Path.Path
      const id = yield* Keys.makePair(folder, algorithm)
      yield* Console.log([
        `Made a pair of keys for ${algorithm}, with the id ${id}:`,
        `  ${path.join(folder, "private.pem")}  signs tokens. Keep it secret`,
        `  ${path.join(folder, "public.pem")}  verifies tokens`
      ].join("\n"))
    },
    reported
  )
).pipe(Command.withDescription("Make a pair of keys that a service signs and verifies tokens with"))
