import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"

/**
 * Follows the Dockerfile of a project without Docker, whose images may be out of reach: each stage is a folder below
 * `into`, with the files that the lines of COPY name and `.dockerignore` leaves, in which the lines of RUN run. Returns
 * the folder of the last stage. An instruction that it does not know ends it.
 */
export const imageOf = (project: string, into: string): string => {
  const ignored = fs.readFileSync(path.join(project, ".dockerignore"), "utf8").split("\n").filter((line) => line !== "")
  const stages = new Map<string, string>()
  let stage = ""
  const copied = (words: ReadonlyArray<string>): void => {
    const [option, ...rest] = words[0]!.startsWith("--from=") ? words : ["", ...words]
    // A stage has its files where WORKDIR says, which is the folder here.
    const from = option === "" ? project : stages.get(option!.slice("--from=".length))!
    const target = path.join(stage, rest.at(-1)!)
    for (const pattern of rest.slice(0, -1)) {
      const inside = pattern.replace(/^\/app\//u, "")
      const sources = inside === "." ? ["."] : fs.globSync(inside, { cwd: from })
      if (sources.length === 0) throw new Error(`The Dockerfile copies ${pattern}, which is not there`)
      for (const source of sources) {
        const isFolder = fs.statSync(path.join(from, source)).isDirectory()
        fs.cpSync(path.join(from, source), isFolder ? target : path.join(target, path.basename(source)), {
          recursive: true,
          verbatimSymlinks: true,
          filter: (file) =>
            option !== "" || !ignored.some((pattern) => path.matchesGlob(path.relative(project, file), pattern))
        })
      }
    }
  }
  for (const line of fs.readFileSync(path.join(project, "Dockerfile"), "utf8").split("\n")) {
    const [instruction, ...words] = line.split(" ")
    switch (instruction) {
      case "FROM": {
        stage = path.join(into, words[2] ?? "last")
        fs.mkdirSync(stage, { recursive: true })
        if (words[2] !== undefined) stages.set(words[2], stage)
        break
      }
      case "COPY": {
        copied(words)
        break
      }
      case "RUN": {
        // The owners of files are Docker's matter: the user "node" need not exist here. What was just installed is taken again.
        const { status } = spawnSync("sh", ["-ec", `chown() { :; }\n${words.join(" ")}`], {
          cwd: stage,
          stdio: "inherit"
        })
        if (status !== 0) throw new Error(`The Dockerfile's line fails: ${line}`)
        break
      }
      case "":
      case "CMD":
      case "ENV":
      case "EXPOSE":
      case "HEALTHCHECK":
      case "USER":
      case "WORKDIR": {
        break
      }
      default: {
        throw new Error(`The Dockerfile has ${instruction}`)
      }
    }
  }
  return stage
}
