/** Programs of the project's own, run as processes. */
import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { createServer } from "node:net"

export interface Program {
  readonly process: ChildProcess
  /** What it has printed so far, on both streams. */
  readonly output: () => string
  /** Its exit code, or the signal that ended it. */
  readonly ended: Effect.Effect<number | NodeJS.Signals | null>
}

/**
 * Starts a TypeScript file of the project; it is killed when the scope closes. `within` is a command that becomes the
 * command that follows it, and `own` are the arguments of the program.
 */
export const runProgram = (
  file: string,
  env: { readonly [name: string]: string },
  within: ReadonlyArray<string> = [],
  own: ReadonlyArray<string> = []
): Effect.Effect<Program, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      // Programs import this module, too, and can't load what is for tests.
      const { builtFrom, compileCache } = await import("./programs.ts")
      const [command = process.execPath, ...args] = within
      const line = ["--conditions=source", await builtFrom(file), ...own]
      const process_ = spawn(command, command === process.execPath ? line : [...args, process.execPath, ...line], {
        // A busy machine may need more than the default for a read.
        env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: compileCache(), APPKERNEL_QUERY_TIMEOUT: "120", ...env },
        stdio: ["ignore", "pipe", "pipe"]
      })
      return programOf(process_)
    }),
    ({ ended, process: process_ }) => {
      process_.kill("SIGKILL")
      return ended
    }
  )

/**
 * The shop refuses requests that wait for a busy processor. With this they wait for up to a minute, since tests keep the processor
 * busy.
 */
export const patient = { APPKERNEL_OVERLOAD_MAX_DELAY: "1 minute" }

/** A process that has just been started, with its output. */
export const programOf = (process_: ChildProcess): Program => {
  let output = ""
  for (const stream of [process_.stdout, process_.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text
    })
  }
  const exited = new Promise<number | NodeJS.Signals | null>((resolve) => {
    process_.on("close", (code, signal) => resolve(code ?? signal))
  })
  return { process: process_, output: () => output, ended: Effect.promise(() => exited) }
}

/** Waits until the program has printed this. Dies with its output when it ends before. */
export const printed = (program: Program, text: string): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const look = (): void => {
      if (program.output().includes(text)) resume(Effect.void)
    }
    const gone = (): void => resume(Effect.die(new Error(`It ended without "${text}":\n${program.output()}`)))
    program.process.stdout?.on("data", look)
    program.process.stderr?.on("data", look)
    program.process.on("close", gone)
    look()
    return Effect.sync(() => {
      program.process.stdout?.off("data", look)
      program.process.stderr?.off("data", look)
      program.process.off("close", gone)
    })
  })

/** The lines of JSON that it has printed. */
export const linesOf = (running: Program) =>
  running.output().split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line))

/** Those of its lines whose message has this. */
export const said = (running: Program, text: string) => linesOf(running).filter(({ message }) => message.includes(text))

/** Waits for the line that comes so many times. */
export const saidTimes = (running: Program, text: string, times: number) =>
  Effect.callback<void>((resume) => {
    const look = (): void => {
      if (said(running, text).length >= times) resume(Effect.void)
    }
    running.process.stdout?.on("data", look)
    look()
    return Effect.sync(() => running.process.stdout?.off("data", look))
  })

/** The output of a program that failed to start, without lines of level INFO and the warning that there is no `cfg.yml`. */
export const complaintsOf = (program: Program): ReadonlyArray<string> =>
  program.output().trim().split("\n").filter((line) =>
    !/"level":"INFO"|\] INFO \(|There is no configuration file/u.test(line)
  )

/**
 * A free port for a program that is started later. It is below those that systems give to connections, which begin at
 * 32768, so that no connection of another test takes it meanwhile.
 */
export const freePort: Effect.Effect<number> = Effect.callback<number>((resume) => {
  const listen = (): void => {
    const port = 11_000 + Math.floor(Math.random() * 20_000)
    const server = createServer()
    server.once("error", listen)
    server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(port))))
  }
  listen()
})
