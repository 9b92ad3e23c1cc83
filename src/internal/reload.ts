/** How parts of a service register for a reload of the configuration, and how they apply the new values. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** What a part of the service takes of a configuration that is read again. */
export interface Reloaded {
  /** What differs now of the things that the part reads besides keys: `translations`, with their languages. */
  readonly changed?: { readonly [name: string]: { readonly from: string; readonly to: string } } | undefined
  /** The keys of the part that need a restart after all. */
  readonly restart?: ReadonlyArray<string> | undefined
  /** Applies the new values. */
  readonly apply: Effect.Effect<void>
}

export interface Reload {
  /** The keys of the configuration whose values the part takes. */
  readonly keys: ReadonlyArray<string>
  /** Reads, with the new configuration, and changes nothing yet. */
  readonly prepare: Effect.Effect<Reloaded, { readonly message: string }>
}

/** What can be read again, with the configuration that is; `undefined` in programs that don't. */
export const Reloads: Context.Reference<
  { readonly all: Set<Reload>; readonly provider: ConfigProvider.ConfigProvider } | undefined
> = Context.Reference<
  { readonly all: Set<Reload>; readonly provider: ConfigProvider.ConfigProvider } | undefined
>("appkernel/internal/reload", { defaultValue: () => undefined })

/** Says what is to be read again, and how. What is made with a configuration of its own stays as it is. */
export const onReload = <R>(
  keys: ReadonlyArray<string>,
  prepare: Effect.Effect<Reloaded, { readonly message: string }, R>
): Effect.Effect<void, never, R> =>
  Effect.flatMap(
    Reloads,
    (reloads) =>
      reloads === undefined ? Effect.void : Effect.contextWith((context: Context.Context<R>) =>
        Effect.sync(() => {
          if (Context.get(context, ConfigProvider.ConfigProvider) !== reloads.provider) return
          reloads.all.add({
            keys,
            // The new configuration comes after what the part was made with.
            prepare: Effect.contextWith((current: Context.Context<never>) =>
              Effect.provideContext(prepare, Context.merge(context, current))
            )
          })
        })
      )
  )
