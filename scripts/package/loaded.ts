/** Prints how many files of each package a program has loaded, when it ends. */
import { registerHooks } from "node:module"

const counts: { [name: string]: number } = {}

registerHooks({
  load: (url, context, next) => {
    // The program itself stands in no package. A linked package stands in the folder that the link names.
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/u.exec(url)?.[1]
    if (name !== undefined) counts[name] = (counts[name] ?? 0) + 1
    return next(url, context)
  }
})

process.on("exit", () => console.log(JSON.stringify(counts)))
