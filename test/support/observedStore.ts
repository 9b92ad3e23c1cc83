/** A store on a server, with the commands that it sends. */
import { vi } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type CommandStartedEvent, MongoClient } from "mongodb"
import { type FoundServer, freshStore } from "./mongo.ts"

/** A command. */
export interface Sent {
  readonly name: string
  // The driver's own documents, of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly sent: Record<string, any>
}

/**
 * A store whose commands are seen, but for those of connections, sessions and indexes; `options` are added to the connection
 * string.
 */
export const observed = Effect.fnUntraced(function*(server: FoundServer, options = "") {
  const seen: Array<Sent> = []
  const spy = vi.spyOn(MongoClient.prototype, "connect").mockImplementation(function(this: MongoClient) {
    spy.mockRestore()
    this.on("commandStarted", ({ command, commandName }: CommandStartedEvent) => {
      if (!["ping", "endSessions", "createIndexes", "listIndexes"].includes(commandName)) {
        seen.push({ name: commandName, sent: command })
      }
    })
    return this.connect()
  })
  const context = yield* Layer.build(freshStore(server, `monitorCommands=true&${options}`))
  return { store: Layer.succeedContext(context), commands: Effect.sync(() => seen.splice(0)) }
})

/**
 * What of a command evaluates an expression beside other conditions, whatever the server's order is: in a stage before a `$limit`,
 * in a filter that has nothing else than it, or without the index of the identifiers that were found.
 */
export const unordered = ({ name, sent }: Sent): ReadonlyArray<unknown> => {
  if (name === "aggregate") {
    const stages: ReadonlyArray<object> = sent["pipeline"]
    const end = stages.findIndex((stage) => "$limit" in stage)
    return stages.slice(0, end < 0 ? undefined : end).filter((stage) => "$match" in stage && hasExpression(stage))
  }
  const filters: ReadonlyArray<{ readonly filter: unknown; readonly hint?: unknown }> = [
    { filter: sent["filter"] },
    { filter: sent["query"], hint: sent["hint"] },
    ...[...sent["updates"] ?? [], ...sent["deletes"] ?? []].map(({ hint, q }) => ({ filter: q, hint }))
  ]
  return filters.filter(({ filter, hint }) =>
    hasExpression(filter) &&
    !(JSON.stringify(hint) === `{"_id":1}` && JSON.stringify(filter).includes(`"_id":{"$in":[`))
  )
}

export const hasExpression = (part: unknown): boolean => JSON.stringify([part]).includes(`"$expr"`)
