import * as EmbeddedStore from "../../../src/Repository/EmbeddedStore.ts"
import { freshFolder } from "../../support/folders.ts"
import { hostilePipelines } from "../contracts/hostilePipelines.ts"

hostilePipelines("embedded", freshFolder(EmbeddedStore.layerWith))
