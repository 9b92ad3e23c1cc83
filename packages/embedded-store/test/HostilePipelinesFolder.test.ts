import { freshFolder } from "../../../test/support/folders.ts"
import * as EmbeddedStore from "../src/EmbeddedStore.ts"
import { hostilePipelines } from "./HostilePipelines.contract.ts"

hostilePipelines("embedded", freshFolder(EmbeddedStore.layerWith))
