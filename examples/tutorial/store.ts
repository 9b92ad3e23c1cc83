import { EmbeddedStore } from "appkernel"

export const store = EmbeddedStore.layer
