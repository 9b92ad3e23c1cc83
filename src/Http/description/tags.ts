import * as Context from "effect/Context"

/** The tags of a group or of an endpoint: those of the group come first in the document. */
export class Tags extends Context.Service<Tags, ReadonlyArray<string>>()(
  "appkernel/Http/description/tags"
) {}
