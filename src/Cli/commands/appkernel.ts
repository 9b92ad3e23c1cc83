/** The command `appkernel` with its subcommands. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { backupCommand } from "./backup.ts"
import { buildCommand } from "./build.ts"
import { checkCommand } from "./check.ts"
import { configCommand } from "./config.ts"
import { copyCommand } from "./copy.ts"
import { exploreCommand } from "./explore.ts"
import { indexesCommand } from "./indexes.ts"
import { keysCommand } from "./keys.ts"
import { mcpCommand } from "./mcp.ts"
import { migrateCommand } from "./migrate.ts"
import { newProject } from "./new.ts"
import { openapiCommand } from "./openapi.ts"
import { CommandFailed } from "./output.ts"
import { policyCommand } from "./policy.ts"
import { restoreCommand } from "./restore.ts"
import { routesCommand } from "./routes.ts"
import { seedCommand } from "./seed.ts"
import { upgradeCommand } from "./upgrade.ts"
import { verifyCommand } from "./verify.ts"

const appkernel = Command.make("appkernel").pipe(
  Command.withDescription("Tools for AppKernel services"),
  Command.withSubcommands([
    newProject,
    routesCommand,
    buildCommand,
    keysCommand,
    configCommand,
    checkCommand,
    indexesCommand,
    upgradeCommand,
    migrateCommand,
    seedCommand,
    backupCommand,
    verifyCommand,
    restoreCommand,
    copyCommand,
    openapiCommand,
    policyCommand,
    mcpCommand,
    exploreCommand
  ])
)

/** Runs the command with its arguments. */
export const appkernelWith = (args: ReadonlyArray<string>) =>
  Command.runWith(appkernel, { version: "0.1.0" })(args).pipe(
    // A wrong call has printed what is wrong with it.
    Effect.catchIf(
      (error) => error._tag === "ShowHelp" && error.errors.length > 0,
      () => Effect.fail(new CommandFailed({ detail: "wrong arguments", code: 2 }))
    ),
    // The standard output is for results.
    Effect.provideService(Logger.LogToStderr, true)
  )
