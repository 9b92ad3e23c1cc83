import { EmbeddedStore } from "appkernel"

/** A folder on this machine: `appkernel.embedded.path`, by default ./data. */
export const store = EmbeddedStore.layer
