/**
 * What a service may be told from outside.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"

/**
 * Where the server listens.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServerAddress {
  /** The address to bind to. Defaults to `127.0.0.1`; `0.0.0.0` is every one of the machine's. */
  readonly address: string
  /** Defaults to 5000; 0 takes any that is free. */
  readonly port: number
}

/**
 * Reads `APPKERNEL_SERVER_ADDRESS` and `APPKERNEL_SERVER_PORT`.
 *
 * @category configuration
 * @since 0.1.0
 */
export const serverAddress: Config.Config<ServerAddress> = Config.all({
  address: Config.String("ADDRESS").pipe(Config.withDefault("127.0.0.1")),
  port: Config.Port("PORT").pipe(Config.withDefault(5000))
}).pipe(Config.nested("SERVER"), Config.nested("APPKERNEL"))

/**
 * How much one request may ask for.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  /** Bytes of a JSON body. Defaults to 1 MiB. */
  readonly maxBodySize: number
  /** Documents on a page that says nothing of its size. Defaults to 50. */
  readonly defaultPageSize: number
  /** Documents on a page at most. Defaults to 1,000. */
  readonly maxPageSize: number
}

/**
 * The limits in force.
 *
 * @category references
 * @since 0.1.0
 */
export const Limits: Context.Reference<Limits> = Context.Reference<Limits>("appkernel/Http/KernelConfig/Limits", {
  defaultValue: () => ({ maxBodySize: 1_048_576, defaultPageSize: 50, maxPageSize: 1_000 })
})
