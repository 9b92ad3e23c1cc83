/** Where files are in a service with the API of S3. `FileStore` exports it. */
import type * as ByteSize from "effect/ByteSize"
import type * as Redacted from "effect/Redacted"

/**
 * A bucket of S3, or of another service with its API, and who may write to it.
 *
 * @category models
 * @since 0.1.0
 */
export interface S3Options {
  /** The address of the service, without the bucket: `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string
  readonly bucket: string
  readonly accessKeyId: Redacted.Redacted
  readonly secretAccessKey: Redacted.Redacted
  /** Of temporary credentials. Defaults to none. */
  readonly sessionToken?: Redacted.Redacted | undefined
  /** Defaults to `us-east-1`, which services without regions take. */
  readonly region?: string | undefined
  /** Whether the bucket is in the path of addresses, and not before the host. Defaults to true. */
  readonly isPathStyle?: boolean | undefined
  /** What the names of all objects begin with: `files/`. Defaults to nothing. */
  readonly prefix?: string | undefined
  /** What is larger is written in parts of this size, each of which is in memory: at least 5 MiB, and 10,000 at most. Defaults to 8 MiB. */
  readonly partSize?: ByteSize.Input | undefined
}
