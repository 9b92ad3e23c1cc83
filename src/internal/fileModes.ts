import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import { keyConfig } from "./keyConfig.ts"

/** The permissions of what this process writes. */
export interface FileModes {
  readonly folder: number
  readonly file: number
  /** The permissions of others that are no surprise. */
  readonly expected: number
}

const modes = new Map<string, FileModes>([
  ["group", { folder: 0o750, file: 0o640, expected: 0o070 }],
  ["everybody", { folder: 0o755, file: 0o644, expected: 0o075 }]
])

const own: FileModes = { folder: 0o700, file: 0o600, expected: 0 }

/** Those of `files.readable_by`. Nobody else reads what is written where that is not one of its values. */
export const fileModes: Effect.Effect<FileModes> = Effect.suspend(() =>
  keyConfig(Config.String, "FILES", "READABLE_BY")
).pipe(
  Effect.map((readers) => modes.get(readers.trim().toLowerCase()) ?? own),
  Effect.catch(() => Effect.succeed(own))
)
