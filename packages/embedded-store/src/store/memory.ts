/** The embedded store in memory. */
import type { DocumentStore } from "@appkernel/document-store/DocumentStore"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as keyValueMemory from "../storage/memory/store.ts"
import { fromKeyValue } from "./fromKeyValue.ts"

export const openMemory: Effect.Effect<DocumentStore["Service"], never, Scope.Scope> = Effect.orDie(
  Effect.flatMap(keyValueMemory.make, (store) => fromKeyValue(store, "memory"))
)
