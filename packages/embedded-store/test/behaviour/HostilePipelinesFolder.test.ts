import { freshFolder } from "../../../../test/support/folders.ts"
import { hostilePipelines } from "../../../document-store/test/contracts/hostilePipelines.ts"
import * as EmbeddedStore from "../../src/EmbeddedStore.ts"

hostilePipelines("embedded", freshFolder(EmbeddedStore.layerWith))
