#!/usr/bin/env node
/**
 * The command `appkernel`.
 *
 * @since 0.1.0
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"
import { appkernelWith } from "./commands/appkernel.ts"

const program = Effect.flatMap(Stdio.Stdio, ({ args }) => Effect.flatMap(args, (args) => appkernelWith(args)))

NodeRuntime.runMain(Effect.provide(program, NodeServices.layer))
