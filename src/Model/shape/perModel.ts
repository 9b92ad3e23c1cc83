import type { ModelLike } from "./variants.ts"

/**
 * What is made of a model once, when it is first asked for.
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
