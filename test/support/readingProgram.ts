/** A program that reads the file of an embedded store (`FOLDER`) until it is killed, as a backup of another process does. */
import { open } from "lmdb"

const environment = open({ path: process.env["FOLDER"] ?? "", noSubdir: false, maxDbs: 3, readOnly: true })
environment.useReadTransaction()
environment.get("a")
console.log("reading")
setInterval(() => {}, 60_000)
