import { inFuture } from "../support/mongo.ts"
import { storeMatrix } from "../support/storeMatrix.ts"
import { signInsContract } from "./SignIns.contract.ts"

storeMatrix((name, store) => signInsContract(name, name === "mongodb" ? inFuture(store) : store))
