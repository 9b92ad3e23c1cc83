/** Finalises the models within a payload of an action or operation, at any depth. */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { childContext, collectingProblems, runInOrder, type ValidationContext } from "../codec/validationContext.ts"
import type { ModelError } from "../ModelError.ts"
import { fold } from "../shape/nodes.ts"
import { presentMember } from "../shape/sentForm.ts"
import { isModelLike, modelOf } from "../shape/variants.ts"
import { finaliser, planOf, type Resolve } from "./finaliser.ts"

/** Finalises what a caller sent by `sentForm`: its models become instances, other values stay. */
export const sentFinaliser = (schema: Schema.Top): (sent: unknown) => Effect.Effect<unknown, ModelError> => {
  if (isModelLike(schema)) {
    const finalise = finaliser(schema)
    return (sent) => finalise(sent, { isSent: true })
  }
  const resolve = resolverOf(schema.ast)
  return resolve === undefined
    ? Effect.succeed
    : (sent) => collectingProblems("payload", sent, (context) => resolve(sent, context), true)
}

/** `undefined` if there is no model in the value. */
const resolverOf: (ast: SchemaAST.AST) => Resolve | undefined = fold<Resolve | undefined>({
  first: (ast, byCase) => {
    const model = modelOf(ast)
    return model !== undefined ? planOf(model) : ast.encoding === undefined ? byCase() : undefined
  },
  Arrays: (ast) => listResolver(ast),
  Objects: (ast) => objectResolver(ast),
  Union: (ast) => {
    const member = presentMember(ast)
    const resolve = member === undefined ? undefined : resolverOf(member)
    return resolve === undefined ?
      undefined :
      (value, context) => value === null || value === undefined ? Effect.succeed(value) : resolve(value, context)
  },
  Suspend: (inner) => (value, context) => inner()?.(value, context) ?? Effect.succeed(value),
  otherwise: () => undefined
})

const listResolver = ({ elements, rest: [item, ...last] }: SchemaAST.Arrays): Resolve | undefined => {
  const first = elements.map((element) => resolverOf(element))
  const middle = item === undefined ? undefined : resolverOf(item)
  const end = last.map((element) => resolverOf(element))
  if ([...first, middle, ...end].every((resolve) => resolve === undefined)) return undefined
  return (value, context) => {
    // It was decoded as a list.
    const items = value as ReadonlyArray<unknown>
    const ending = items.length - end.length
    const resolveAt = (i: number) => i < first.length ? first[i] : i < ending ? middle : end[i - ending]
    const copy = [...items]
    const resolved = resolveParts(items.map((item, i) => [i, item, resolveAt(i)]), context, (i, part) => copy[i] = part)
    return Effect.mapEager(resolved, () => copy)
  }
}

const objectResolver = ({ indexSignatures, propertySignatures }: SchemaAST.Objects): Resolve | undefined => {
  const properties = new Map(propertySignatures.map(({ name, type }) => [name, resolverOf(type)]))
  const others = indexSignatures.map(({ type }) => resolverOf(type)).find((resolve) => resolve !== undefined)
  if (others === undefined && [...properties.values()].every((resolve) => resolve === undefined)) return undefined
  return (value, context) => {
    const copy = new Map(Object.entries(value as object))
    const parts = [...copy].map(([name, part]) =>
      [name, part, properties.has(name) ? properties.get(name) : others] as const
    )
    return Effect.mapEager(
      resolveParts(parts, context, (name, part) => copy.set(name, part)),
      () => Object.fromEntries(copy)
    )
  }
}

const resolveParts = <Key extends string | number>(
  parts: ReadonlyArray<readonly [key: Key, value: unknown, resolve: Resolve | undefined]>,
  context: ValidationContext,
  set: (key: Key, value: unknown) => void
): Effect.Effect<void> =>
  runInOrder(parts.length, (i) => {
    const [key, value, resolve] = parts[i]!
    return resolve?.(value, childContext(context, String(key)))
  }, (i, value) => set(parts[i]![0], value))
