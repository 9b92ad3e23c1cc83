#!/usr/bin/env node
/**
 * The command `appkernel`.
 *
 * @since 0.1.0
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { backupCommand } from "./commands/backup.ts"
import { buildCommand } from "./commands/build.ts"
import { checkCommand } from "./commands/check.ts"
import { CommandFailed } from "./commands/commandFailed.ts"
import { configCommand } from "./commands/config.ts"
import { copyCommand } from "./commands/copy.ts"
import { indexesCommand } from "./commands/indexes.ts"
import { keysCommand } from "./commands/keys.ts"
import { migrateCommand } from "./commands/migrate.ts"
import { newProject } from "./commands/new.ts"
import { openapiCommand } from "./commands/openapi.ts"
import { policyCommand } from "./commands/policy.ts"
import { restoreCommand } from "./commands/restore.ts"
import { routesCommand } from "./commands/routes.ts"
import { seedCommand } from "./commands/seed.ts"
import { upgradeCommand } from "./commands/upgrade.ts"
import { verifyCommand } from "./commands/verify.ts"

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
    policyCommand
  ])
)

// A wrong call has printed what is wrong with it.
const program = Effect.catchIf(
  Command.run(appkernel, { version: "0.1.0" }),
  (error) => error._tag === "ShowHelp" && error.errors.length > 0,
  () => Effect.fail(new CommandFailed({ detail: "wrong arguments", code: 2 }))
)

// The standard output is for results.
NodeRuntime.runMain(
  Effect.provideService(Effect.provide(program, NodeServices.layer), Logger.LogToStderr, true)
)
