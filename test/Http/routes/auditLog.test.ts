import { routeStores } from "../../support/storeMatrix.ts"
import { auditLogContract } from "./auditLog.contract.ts"

routeStores(auditLogContract)
