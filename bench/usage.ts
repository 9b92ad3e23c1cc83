/** What a process has used so far, where the system says it (Linux). */
import * as fs from "node:fs"

/** The seconds of CPU time of the threads that a process has now. */
export const cpuSecondsOf = (pid: number | undefined): number => {
  const folder = `/proc/${pid}/task`
  if (!fs.existsSync(folder)) return NaN
  // Of each thread the nanoseconds on a processor are the first number.
  const nanos = fs.readdirSync(folder).map((task) => {
    const file = `${folder}/${task}/schedstat`
    return fs.existsSync(file) ? Number(fs.readFileSync(file, "utf8").split(" ", 1)[0]) : NaN
  })
  return nanos.reduce((sum, one) => sum + one, 0) / 1e9
}

/** Its resident memory. */
export const residentBytesOf = (pid: number | undefined): number => {
  const file = `/proc/${pid}/status`
  if (!fs.existsSync(file)) return NaN
  return 1024 * Number(/^VmRSS:\s+(\d+)/mu.exec(fs.readFileSync(file, "utf8"))?.[1])
}
