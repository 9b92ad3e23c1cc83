import { changeLogContract } from "../../packages/document-store/test/ChangeLog.contract.ts"
import { differencesOf } from "../support/serverDifferences.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

storeMatrix((name, store, server) =>
  changeLogContract(name, store, server && { isEmbedded: false, differs: differencesOf(server) })
)
