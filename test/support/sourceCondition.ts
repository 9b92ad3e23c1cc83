/**
 * Keeps the export condition `source` to the project's own packages. Node loads no TypeScript from `node_modules`, and some
 * packages have sources there.
 */
import { registerHooks } from "node:module"

registerHooks({
  resolve: (specifier, context, next) =>
    next(
      specifier,
      /^(?:@?appkernel(?:\/|$)|[./#]|file:|node:)/u.test(specifier)
        ? context
        : { ...context, conditions: context.conditions.filter((condition) => condition !== "source") }
    )
})
