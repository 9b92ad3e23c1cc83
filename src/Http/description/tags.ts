/** The annotation that carries OpenAPI tags from a group or an endpoint to the document. */
import * as Context from "effect/Context"

/** The tags of a group or of an endpoint: those of the group come first in the document. */
export class Tags extends Context.Service<Tags, ReadonlyArray<string>>()(
  "appkernel/Http/description/tags"
) {}
