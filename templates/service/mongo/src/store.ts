import { MongoStore } from "appkernel"

/** The server and the database of `appkernel.mongo`. */
export const store = MongoStore.layer
