/** The property in which a store of documents says where its files are, without loading what keeps them. */
export const filesKey: unique symbol = Symbol.for("~appkernel/Files/ofStore")
