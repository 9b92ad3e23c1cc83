/** Small disks, and commands that make a program see one. */
import { spawnSync } from "node:child_process"
import * as os from "node:os"

const mounting = (folder: string, megabytes: number, then: string): ReadonlyArray<string> => [
  "bash",
  "-c",
  `mount -t tmpfs -o size=${megabytes}m tmpfs "$0" && ${then}`,
  folder
]

// Nobody else sees what is mounted there, and it is gone with the program.
const ways = [["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]]

const way = ways.find(([command = "", ...args]) =>
  process.platform === "linux"
  && spawnSync(command, [...args, ...mounting(os.tmpdir(), 1, "true")]).status === 0
)

/**
 * A command before a command, which sees a disk of some megabytes in place of the folder, some of them taken by a file
 * called `filler`; `undefined` where this user may not have one.
 */
export const withSmallDisk: undefined | ((folder: string, megabytes: number, taken: number) => ReadonlyArray<string>) =
  way === undefined ? undefined : (folder, megabytes, taken) => [
    ...way,
    ...mounting(folder, megabytes, `head -c ${taken}M /dev/zero > "$0/filler" && exec "$@"`)
  ]

/** A command before a command, whose files may not grow beyond some megabytes, until {@link allowMore}. */
export const withSmallFiles = (megabytes: number): ReadonlyArray<string> => [
  "bash",
  "-c",
  `ulimit -S -f ${megabytes * 1024} && exec "$@"`,
  "bash"
]

/** Whether {@link allowMore} can be used here. */
export const canAllowMore = process.platform === "linux" && spawnSync("prlimit", ["--version"]).status === 0

/** Lets the files of a process grow as they like. */
export const allowMore = (pid: number): boolean =>
  spawnSync("prlimit", [`--pid=${pid}`, "--fsize=unlimited:"]).status === 0
