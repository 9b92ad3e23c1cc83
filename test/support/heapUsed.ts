import process from "node:process"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")

/** The bytes of the heap that are in use. Caches of the engine let go of their values in several collections. */
export const heapUsed = (): number => {
  for (let i = 0; i < 4; i++) collectGarbage()
  return process.memoryUsage().heapUsed
}
