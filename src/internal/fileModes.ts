/** Reads from the configuration who may read the files that the service writes. */
import { FileModes } from "@appkernel/document-store/folders"
import * as Effect from "effect/Effect"
import { configOr } from "./configurationKeys.ts"

const modes = new Map<string, FileModes>([
  ["group", { folder: 0o750, file: 0o640, expected: 0o070 }],
  ["everybody", { folder: 0o755, file: 0o644, expected: 0o075 }]
])

/**
 * The permissions by `files.readable_by`. Without a known value, those of the context, by default for the owner alone.
 */
export const fileModes: Effect.Effect<FileModes> = Effect.suspend(() => configOr("files.readable_by", "")).pipe(
  Effect.map((readers) => modes.get(readers)),
  Effect.catch(() => Effect.undefined),
  Effect.flatMap((found) => found === undefined ? FileModes : Effect.succeed(found))
)

/** Gives what a store writes the permissions of the configuration. */
export const withFileModes = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(fileModes, (found) => Effect.provideService(effect, FileModes, found))
