/** Commands that make a program see other processes by other numbers, or not at all, as in a container. */
import { spawnSync } from "node:child_process"

const ways = [["unshare"], ["unshare", "--map-root-user"]].map((way) => [...way, "--pid", "--fork", "--kill-child"])

/** A command before a command; `undefined` where this user may not have one. */
export const withOwnNumbers: ReadonlyArray<string> | undefined = process.platform === "linux"
  ? ways.find(([command = "", ...args]) => spawnSync(command, [...args, "true"]).status === 0)
  : undefined
