/** Effect's engine of workflows, with our stores as its storage. */
import * as ClusterWorkflowEngine from "effect/cluster/ClusterWorkflowEngine"
import * as MessageStorage from "effect/cluster/MessageStorage"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as Runners from "effect/cluster/Runners"
import * as RunnerStorage from "effect/cluster/RunnerStorage"
import * as Sharding from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as Snowflake from "effect/cluster/Snowflake"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { randomInt } from "node:crypto"
import { hostname } from "node:os"
import { configOf } from "../../internal/configurationKeys.ts"
import { DocumentStore } from "../../Repository/DocumentStore.ts"
import { messageIndexes, messages, storedMessages } from "./messageStorage.ts"
import { storedRunners } from "./runnerStorage.ts"

const messageStorage = Layer.effect(
  MessageStorage.MessageStorage,
  Effect.gen(function*() {
    const store = yield* DocumentStore
    yield* store.createIndexes(messages, messageIndexes)
    return yield* MessageStorage.makeEncoded(storedMessages(store))
  })
).pipe(Layer.provide(Snowflake.layerGenerator))

const runnerStorage = Layer.effect(
  RunnerStorage.RunnerStorage,
  Effect.gen(function*() {
    const { shardLockExpiration } = yield* ShardingConfig.ShardingConfig
    return RunnerStorage.makeEncoded(
      yield* storedRunners(yield* DocumentStore, Duration.fromInputUnsafe(shardLockExpiration))
    )
  })
)

const config = Layer.unwrap(Effect.gen(function*() {
  const { isolation } = yield* DocumentStore
  // An execution waits for a process that knows its workflow, which may start slowly. By default it would fail for ever after a minute.
  const waiting = { entityRegistrationTimeout: "365 days" } as const
  // A store that one process has at a time has one runner, which has its locks again at once after it was killed.
  if (isolation === "serializable") return ShardingConfig.layer(waiting)
  const lock = Duration.toMillis(yield* configOf("jobs.lock"))
  return ShardingConfig.layer({
    ...waiting,
    // Nobody connects to it. Containers may have one name of a host, and each of them the process 1.
    runnerAddress: Option.some(RunnerAddress.make(hostname(), randomInt(2 ** 47))),
    shardLockExpiration: lock,
    shardLockRefreshInterval: lock / 3,
    // What another runner has stored is found in this time.
    entityMessagePollInterval: "1 second"
  })
}))

/** The engine with what it runs on. Runners say nothing to each other: each finds what is its own in the store. */
export const workflowEngine = ClusterWorkflowEngine.layer.pipe(
  Layer.provideMerge(Sharding.layer),
  Layer.provide(Runners.layerNoop),
  Layer.provideMerge(messageStorage),
  Layer.provide([runnerStorage, RunnerHealth.layerNoop]),
  Layer.provide(config)
)
