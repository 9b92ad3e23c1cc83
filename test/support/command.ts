/** The command `appkernel` in the process of a test. What it is as a process is what the tests of `Main.ts` are for. */
import { NodeServices } from "@effect/platform-node"
import { Cause, ConfigProvider, Console, Effect, Exit } from "effect"
import { format } from "node:util"
import { appkernelWith } from "../../src/Cli/commands/appkernel.ts"
import { CommandFailed } from "../../src/Cli/commands/output.ts"

/** Runs it: its exit code, and what it prints on both streams. */
export const runCommand = Effect.fnUntraced(
  function*(env: { readonly [name: string]: string }, ...args: ReadonlyArray<string>) {
    let output = ""
    const print = (...texts: ReadonlyArray<unknown>): void => {
      output += `${format(...texts)}\n`
    }
    const exit = yield* appkernelWith(args).pipe(
      Effect.provide(NodeServices.layer),
      Effect.provideService(Console.Console, { ...console, log: print, error: print }),
      Effect.provideService(
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromEnv({ env: { APPKERNEL_QUERY_TIMEOUT: "120", ...env } })
      ),
      Effect.exit
    )
    if (Exit.isSuccess(exit)) return { code: 0, output }
    const error = Cause.squash(exit.cause)
    return error instanceof CommandFailed
      ? { code: error.code, output }
      : { code: 1, output: output + Cause.pretty(exit.cause) }
  }
)
