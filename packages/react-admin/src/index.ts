/** Providers of react-admin for services of AppKernel. */
export { type Call, connect, type ConnectOptions, type KernelConnection } from "./Connection.ts"
export type {
  ActionDescription,
  Allowed,
  BackReference,
  Choice,
  FieldDescription,
  FieldType,
  FileDescription,
  ResourceDescription,
  ServiceDescription
} from "./Description.ts"
export type { Credentials, KernelAuthProvider } from "./KernelAuthProvider.ts"
export type {
  Change,
  Filter,
  KernelDataProvider,
  KernelRecord,
  Link,
  ManyResult,
  Page,
  Params,
  Revision
} from "./KernelDataProvider.ts"
export { KernelConflict, KernelError, KernelPartialWrite, KernelPartialWrites } from "./KernelError.ts"
export type { KernelI18nProvider, Language, Messages } from "./KernelI18nProvider.ts"
