import { embeddedStores, storeMatrix } from "../../support/storeMatrix.ts"
import { longQueriesContract } from "./LongQueries.contract.ts"
import { hostileContract } from "./RestHostile.contract.ts"

storeMatrix(hostileContract)

// A server of its own looks for itself; these two run where requests are answered.
embeddedStores(longQueriesContract)
