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
import { build } from "./commands/build.ts"
import { checkCommand } from "./commands/check.ts"
import { CommandFailed } from "./commands/commandFailed.ts"
import { config } from "./commands/config.ts"
import { copy } from "./commands/copy.ts"
import { indexes } from "./commands/indexes.ts"
import { keys } from "./commands/keys.ts"
import { migrate } from "./commands/migrate.ts"
import { newProject } from "./commands/new.ts"
import { openapi } from "./commands/openapi.ts"
import { policy } from "./commands/policy.ts"
import { restoreCommand } from "./commands/restore.ts"
import { routesCommand } from "./commands/routes.ts"
import { seed } from "./commands/seed.ts"
import { upgrade } from "./commands/upgrade.ts"
import { verifyCommand } from "./commands/verify.ts"

const appkernel = Command.make("appkernel").pipe(
  Command.withDescription("Tools for AppKernel services"),
  Command.withSubcommands([
    newProject,
    routesCommand,
    build,
    keys,
    config,
    checkCommand,
    indexes,
    upgrade,
    migrate,
    seed,
    backupCommand,
    verifyCommand,
    restoreCommand,
    copy,
    openapi,
    policy
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
