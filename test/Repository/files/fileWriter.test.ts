import { Effect, Layer } from "effect"
import * as path from "node:path"
import { EmbeddedStore, FileStore } from "../../../src/index.ts"
import { freshDirectory } from "../../support/folders.ts"
import { fileWriterContract } from "./fileWriter.contract.ts"

fileWriterContract("memory", Layer.merge(EmbeddedStore.layerMemory, FileStore.layerMemory))
fileWriterContract(
  "embedded",
  Layer.unwrap(Effect.map(freshDirectory, (folder) =>
    Layer.merge(
      EmbeddedStore.layerWith({ path: path.join(folder, "data") }),
      FileStore.layerFolder(path.join(folder, "files"))
    )))
)
