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
import { build } from "./commands/build.ts"
import { keys } from "./commands/keys.ts"
import { newProject } from "./commands/new.ts"
import { routes } from "./commands/routes.ts"

const appkernel = Command.make("appkernel").pipe(
  Command.withDescription("Tools for AppKernel services"),
  Command.withSubcommands([newProject, routes, build, keys])
)

NodeRuntime.runMain(Effect.provide(Command.run(appkernel, { version: "0.1.0" }), NodeServices.layer))
