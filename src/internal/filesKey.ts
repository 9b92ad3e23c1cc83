/** Where the files of a store of documents are: how the store says so, without loading what keeps them. */

/** The property of a store of documents that has the effect which opens its files. */
export const filesKey: unique symbol = Symbol.for("~appkernel/Files/ofStore")
