/** Commands that run a program in a process namespace of its own, as in a container. */
import { spawnSync } from "node:child_process"

const ways = [["unshare"], ["unshare", "--map-root-user"]].map((way) => [...way, "--pid", "--fork", "--kill-child"])

/** A prefix for a command; `undefined` where this user has no permission for it. */
export const withOwnNumbers: ReadonlyArray<string> | undefined = process.platform === "linux"
  ? ways.find(([command = "", ...args]) => spawnSync(command, [...args, "true"]).status === 0)
  : undefined
