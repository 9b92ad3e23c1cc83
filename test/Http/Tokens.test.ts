import { inFuture } from "../support/mongo.ts"
import { storeMatrix } from "../support/storeMatrix.ts"
import { tokensContract } from "./Tokens.contract.ts"

storeMatrix((name, store) => tokensContract(name, name === "mongodb" ? inFuture(store) : store))
