/**
 * What the commands of AppKernel do with folders that other processes have open. It may change in any version.
 *
 * @since 0.1.0
 */
import type { StoreUnavailable } from "@appkernel/document-store/StoreError"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { loaded } from "./store/loaded.ts"
import type { OtherLog } from "./store/otherLog.ts"

export const openLog = (folder: string): Effect.Effect<OtherLog, StoreUnavailable, Scope.Scope> =>
  Effect.flatMap(loaded(() => import("./store/otherLog.ts")), ({ openOtherLog }) => openOtherLog(folder))

export * as StoreCopy from "./store/storeCopy.ts"
export * as StoreFollow from "./store/storeFollow.ts"
