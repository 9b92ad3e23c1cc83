/** `appkernel config`: prints the configuration that a service would have, and where each value comes from. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as KernelConfig from "../../Http/KernelConfig.ts"
import { jsonFlag, print, reported, switchFlag } from "./output.ts"

export const configCommand = Command.make(
  "config",
  {
    dir: Flag.String("dir").pipe(
      Flag.withDescription("The folder of cfg.yml. Defaults to the working directory"),
      Flag.optional
    ),
    set: switchFlag("set", "Prints only what differs from the defaults"),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ dir, json, set }) {
    const { inForce, log } = yield* KernelConfig.load({ cfgDir: Option.getOrElse(dir, () => ".") })
    yield* log
    const rows = inForce.filter(({ source }) => !set || source !== "default")
      .map(({ key, place, source, value }) => ({ key, value, source, ...place === undefined ? {} : { place } }))
    const widthOf = (column: "key" | "value") => Math.max(0, ...rows.map((row) => row[column].length))
    const [keys, values] = [widthOf("key"), widthOf("value")]
    yield* print(
      json,
      rows,
      rows.map(({ key, place, source, value }) =>
        `${key.padEnd(keys)}  ${value.padEnd(values)}  ${source}${place === undefined ? "" : `: ${place}`}`
      )
    )
  }, reported)
).pipe(
  Command.withDescription("Print the configuration in force and where each value comes from, without secrets"),
  Command.withExamples([{ command: "appkernel config --set", description: "Print what is configured here" }])
)
