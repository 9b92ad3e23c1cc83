import { storeMatrix } from "../../support/storeMatrix.ts"
import { auditLogContract } from "./auditLog.contract.ts"

storeMatrix(auditLogContract)
