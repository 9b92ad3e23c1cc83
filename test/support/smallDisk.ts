/** Commands that run a program with little disk space. */
import { spawnSync } from "node:child_process"
import * as os from "node:os"

const mounting = (folder: string, megabytes: number, then: string): ReadonlyArray<string> => [
  "bash",
  "-c",
  `mount -t tmpfs -o size=${megabytes}m tmpfs "$0" && ${then}`,
  folder
]

// The mount is private to the program, and ends with it.
const ways = [["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]]

const way = ways.find(([command = "", ...args]) =>
  process.platform === "linux"
  && spawnSync(command, [...args, ...mounting(os.tmpdir(), 1, "true")]).status === 0
)

/**
 * A prefix for a command: mounts a disk of a few megabytes over the folder, with a file `filler` that takes a part of it.
 * `undefined` where this user has no permission for it.
 */
export const withSmallDisk: undefined | ((folder: string, megabytes: number, taken: number) => ReadonlyArray<string>) =
  way === undefined ? undefined : (folder, megabytes, taken) => [
    ...way,
    ...mounting(folder, megabytes, `head -c ${taken}M /dev/zero > "$0/filler" && exec "$@"`)
  ]

/** A prefix for a command: limits its files to a few megabytes, until {@link allowMore}. */
export const withSmallFiles = (megabytes: number): ReadonlyArray<string> => [
  "bash",
  "-c",
  `ulimit -S -f ${megabytes * 1024} && exec "$@"`,
  "bash"
]

/** Whether {@link allowMore} can be used here. */
export const canAllowMore = process.platform === "linux" && spawnSync("prlimit", ["--version"]).status === 0

/** Removes the limit on the files of a process. */
export const allowMore = (pid: number): boolean =>
  spawnSync("prlimit", [`--pid=${pid}`, "--fsize=unlimited:"]).status === 0
