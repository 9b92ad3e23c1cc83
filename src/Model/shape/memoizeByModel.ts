import type { ModelLike } from "./variants.ts"

/**
 * Caches a value for each model. The first access computes it.
 *
 * @internal
 */
export const memoizeByModel = <M extends ModelLike, A>(make: (model: M) => A): (model: M) => A => {
  const cache = new WeakMap<M, { readonly value: A }>()
  return (model) => {
    const cached = cache.get(model)
    if (cached !== undefined) return cached.value
    const value = make(model)
    cache.set(model, { value })
    return value
  }
}
