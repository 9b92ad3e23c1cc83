import { Generator, Index, Model } from "appkernel"
import { DateTime, Effect } from "effect"
import { Book } from "./Book.ts"
import { Member } from "./Member.ts"

const inFourWeeks = Effect.map(Generator.dateNow, (now) => DateTime.add(now, { weeks: 4 }))

export class Loan extends Model.Class<Loan>()("Loan", {
  id: Model.id({ prefix: "L" }),
  book: Model.reference(() => Book, { checked: true, onDelete: "restrict" }),
  member: Model.reference(() => Member, { checked: true, onDelete: "cascade" }),
  due: Model.DateTime.pipe(Model.generated(inFourWeeks)),
  returned: Model.DateTime.pipe(Model.optional),
  ...Model.versioned
}, { indexes: [Index.compound({ member: 1, due: 1 })] }) {}
