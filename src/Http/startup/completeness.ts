/**
 * The compile-time check that every registered description has an implementation.
 *
 * @since 0.1.0
 */
import type * as KernelApi from "../KernelApi.ts"
import type { NameOf } from "../registration/segment.ts"
import type * as Resource from "../Resource.ts"
import type * as Service from "../Service.ts"

/**
 * The type of complete implementations of a description: `unknown` for each of them. Otherwise a message names the
 * registrations without one, or, in its place, an implementation that belongs to no registration.
 *
 * @category models
 * @since 0.1.0
 */
export type Complete<Registered extends KernelApi.AnyEntry, Implementations extends ReadonlyArray<Implements>> =
  [Unimplemented<Registered, Implementations[number]["description"]>] extends [never]
    ? { readonly [I in keyof Implementations]: Surplus<Implementations[I], Registered["target"]> }
    : `${Unimplemented<Registered, Implementations[number]["description"]>} has no implementation`

interface Implements {
  readonly description: unknown
}

/** The names of registrations without an implementation. */
type Unimplemented<Registered, Descriptions> = Registered extends KernelApi.Entry<infer Name, infer T>
  ? T extends Resource.Description<infer _M, infer _Methods, infer Actions, infer _E>
    ? [Actions] extends [never] ? never : T extends Descriptions ? never : Name
  : T extends Service.Description<infer _Name, infer Endpoints>
    ? [Endpoints] extends [never] ? never : T extends Descriptions ? never : Name
  : never
  : never

/** The message about an implementation of none of the targets. */
type Surplus<T, Targets> = T extends { readonly description: infer D }
  ? D extends Targets ? unknown : `${NameOf<D>} is not registered in the description`
  : unknown
