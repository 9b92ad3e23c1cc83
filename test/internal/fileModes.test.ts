import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Stream } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import process from "node:process"
import { saveFile } from "../../src/Client/files/savedFile.ts"
import { openLogFile } from "../../src/Http/server/logFile.ts"
import { EmbeddedStore, KernelConfig, Keys } from "../../src/index.ts"
import { fileModes } from "../../src/internal/fileModes.ts"
import { freshDirectory } from "../support/folders.ts"

/** The umask of this process until the scope closes. */
const withUmask = (mask: number) =>
  Effect.acquireRelease(Effect.sync(() => process.umask(mask)), (before) => Effect.sync(() => process.umask(before)))

/** The permissions of all that is in a folder, by its path. */
const permissionsIn = (folder: string): ReadonlyArray<readonly [name: string, isFolder: boolean, mode: string]> =>
  fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => {
    const found = fs.statSync(path.join(folder, name))
    return [name, found.isDirectory(), (found.mode & 0o777).toString(8)]
  })

/** Writes whatever the package writes. */
const everything = Effect.fnUntraced(function*(folder: string) {
  const at = (name: string) => path.join(folder, name)
  const data = at("new/data")
  yield* Effect.scoped(Effect.gen(function*() {
    const store = yield* EmbeddedStore.make({ path: data })
    yield* store.insertOne("Person", { _id: "one" })
    yield* EmbeddedStore.backup({ path: data, to: at("backups/one") })
    yield* EmbeddedStore.restore({ from: at("backups/one"), path: at("restored") })
  }))
  const modes = yield* fileModes
  yield* Effect.scoped(Effect.gen(function*() {
    const file = at("logs/shop.log")
    const log = yield* openLogFile({
      file,
      maxSize: 1,
      backupCount: 2,
      modes,
      now: () => 0,
      onFailure: (detail) => assert.fail(detail)
    })
    log.write("a line\n")
    log.write("another line\n")
  }))
  yield* saveFile(at("new"), "saved", Stream.make(Uint8Array.of(1)))
})

const widths = [["owner", "700", "600"], ["group", "750", "640"], ["everybody", "755", "644"]] as const

describe("files", () => {
  for (const umask of [0, 0o022, 0o077]) {
    it.live(`are as readable as the configuration says, whatever the umask is (${umask.toString(8)})`, () =>
      Effect.scoped(Effect.gen(function*() {
        yield* withUmask(umask)
        for (const [readers, ofFolder, ofFile] of widths) {
          const folder = yield* freshDirectory
          const cfgDir = yield* freshDirectory
          fs.writeFileSync(`${cfgDir}/cfg.yml`, `appkernel: { files: { readable_by: ${readers} } }`)
          const layer = Layer.provideMerge(KernelConfig.layer({ cfgDir }), NodeServices.layer)
          yield* Effect.provide(everything(folder), layer)
          const found = permissionsIn(folder)
          assert.includeMembers(found.map(([name]) => name), [
            ...["data.mdb", "lock.mdb", "owner.lock", "owner.txt"].map((name) => `new/data/${name}`),
            "backups/one/data.mdb",
            "backups/one/manifest.json",
            "restored/data.mdb",
            "logs/shop.log",
            "logs/shop.log.1",
            "new/saved"
          ])
          // A umask narrows files of the log further.
          const ofLog = (Number.parseInt(ofFile, 8) & ~umask).toString(8)
          const expected = found.map(([name, isFolder]) => {
            const mode = isFolder ? ofFolder : name.startsWith("logs/") ? ofLog : ofFile
            return [name, isFolder, mode] as const
          })
          assert.deepStrictEqual(found, expected)
        }
        const keys = yield* freshDirectory
        yield* Effect.provide(Keys.makePair(path.join(keys, "keys"), "ES256"), NodeServices.layer)
        assert.sameDeepMembers([...permissionsIn(keys)], [
          ["keys", true, "700"],
          ["keys/private.pem", false, "600"],
          ["keys/public.pem", false, "600"]
        ])
      })))
  }

  it.live("that others reach are told of by a start of the embedded store", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = `${yield* freshDirectory}/data`
      const lines: Array<string> = []
      const starting = Effect.scoped(EmbeddedStore.make({ path: folder })).pipe(
        Effect.provide(Logger.layer([Logger.make(({ logLevel, message }) => {
          if (logLevel === "Warn") lines.push(String(message))
        })]))
      )
      yield* starting
      assert.deepStrictEqual(lines, [])
      for (const [name, mode] of [["", 0o755], ["data.mdb", 0o644], ["lock.mdb", 0o660]] as const) {
        const place = path.join(folder, name)
        const before = fs.statSync(place).mode
        fs.chmodSync(place, mode)
        yield* starting
        assert.match(lines.splice(0).join("\n"), new RegExp(`^Other users .*${mode.toString(8)}.*chmod -R go= `, "u"))
        fs.chmodSync(place, before)
      }
    })))
})
