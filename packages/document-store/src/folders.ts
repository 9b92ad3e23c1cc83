/**
 * Folders and files with given permissions, for programs on Node. It may change in any version.
 *
 * @since 0.1.0
 */
export { FileModes } from "./folders/fileModes.ts"
export { makeFile, makeFolder, problemOf } from "./folders/makeFolder.ts"
