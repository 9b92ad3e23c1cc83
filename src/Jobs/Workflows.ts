/**
 * Effect's workflows on the store of documents: work of several steps, each of which is done once it is noted, with waits between
 * them that outlast the process.
 *
 * **Example** (Two steps and a wait)
 *
 * ```ts
 * import { EmbeddedStore, Workflows } from "appkernel"
 * import { Effect, Layer, Schema } from "effect"
 * import { Activity, DurableClock, Workflow } from "effect/workflow"
 *
 * const Dunning = Workflow.make("Dunning", {
 *   payload: { invoice: Schema.String },
 *   success: Schema.String,
 *   idempotencyKey: ({ invoice }) => invoice
 * })
 *
 * const step = (name: string) =>
 *   Activity.make({ name, success: Schema.String, execute: Effect.succeed(`${name} sent`) })
 *
 * const DunningLive = Dunning.toLayer(({ invoice }) =>
 *   Effect.gen(function*() {
 *     yield* step("reminder")
 *     yield* DurableClock.sleep({ name: "patience", duration: "10 millis" })
 *     return `${invoice}: ${yield* step("second reminder")}`
 *   })
 * )
 *
 * const program = Effect.provide(
 *   Dunning.execute({ invoice: "I1" }),
 *   DunningLive.pipe(Layer.provideMerge(Workflows.layer), Layer.provide(EmbeddedStore.layerMemory))
 * )
 *
 * await Effect.runPromise(program) // => "I1: second reminder sent"
 * ```
 *
 * @since 0.1.0
 */
import type { MessageStorage } from "effect/cluster/MessageStorage"
import type { Sharding } from "effect/cluster/Sharding"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import type { DocumentStore } from "../Repository/DocumentStore.ts"
import type { StoreError } from "../Repository/RepositoryError.ts"

/**
 * How a workflow is done, as its `toLayer` returns it: for `KernelEngine.register`. What another layer provides nobody gets.
 *
 * @category models
 * @since 0.1.0
 */
export interface Implementation<R = unknown> extends Layer.Layer<never, never, R> {}

/**
 * The engine of workflows, and Effect's cluster that it stands on, with the store of documents as their storage. Several
 * processes on MongoDB share the workflows: each step is done by one of them, and by another one once the one that has it gave no sign of
 * life for `jobs.lock`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<
  WorkflowEngine | Sharding | MessageStorage,
  StoreError | Config.ConfigError,
  DocumentStore
> = Layer.unwrap(
  // Effect's cluster is loaded by programs that have workflows, and by no others.
  Effect.map(Effect.promise(() => import("./cluster/engine.ts")), ({ workflowEngine }) => workflowEngine)
)
