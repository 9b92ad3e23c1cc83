import type { ModelLike } from "./variants.ts"

/**
 * Caches a value for each model. The first access computes it.
 *
 * @internal
 */
export const perModel = <M extends ModelLike, A>(make: (model: M) => A): (model: M) => A => {
  const made = new WeakMap<M, { readonly value: A }>()
  return (model) => {
    const known = made.get(model)
    if (known !== undefined) return known.value
    const value = make(model)
    made.set(model, { value })
    return value
  }
}
