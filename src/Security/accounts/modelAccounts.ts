/** Accounts whose logins, password hashes and roles are fields of a model's documents. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import { DeclarationError } from "../../internal/declarationError.ts"
import { idSchemaOf, managedField, type ModelLike, modelTypeId, shownIdOf, unwrapped } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { DocumentStore, type Filter, type Update } from "../../Repository/DocumentStore.ts"
import {
  collectionsOf,
  documentCodec,
  fieldCodecsOf,
  hasVersions,
  holdingRowFilters,
  indexesOf,
  type ModelCollection,
  ownerOf
} from "../../Repository/internal.ts"
import * as Query from "../../Repository/Query.ts"
import { QueryRejected } from "../../Repository/RepositoryError.ts"
import type { Account, Operations } from "./port.ts"

/** The names of the fields that an account consists of. @internal */
export interface AccountFields {
  readonly login: string
  readonly secret: string
  readonly roles: string | undefined
  readonly blocked: string | undefined
}

/**
 * The accounts that the documents of a model are. No rule for a caller applies to them.
 *
 * @internal
 */
export const modelAccounts = (model: Model.Any, fields: AccountFields): Operations => {
  const { fromDocument } = documentCodec(model)
  const subjects = subjectsOf(model)
  const idField = managedField(model, "id") ?? "id"
  const deletedField = managedField(model, "deleted")
  const readLogin = loginReader(model, fields.login)
  const loginCodec = fieldCodecsOf(model, true).get(fields.login)
  const accountOf = (instance: unknown): Option.Option<Account> => {
    const valueOf = (field: string): unknown => Reflect.get(Object(instance), field)
    if (fields.blocked !== undefined && valueOf(fields.blocked) === true) return Option.none()
    const secret = valueOf(fields.secret)
    const roles = fields.roles === undefined ? [] : valueOf(fields.roles)
    return Option.some({
      subject: subjects.print(valueOf(idField)),
      roles: isTexts(roles) ? roles : [],
      secret: Redacted.make(typeof secret === "string" ? secret : "", { label: "password" })
    })
  }
  const filterBy = (field: string, value: unknown): Filter => {
    // The field is one of the model's.
    const where = ($: object) => (Reflect.get($, field) as Query.Field<unknown>).equals(value)
    const own = Query.toFilter(model, where)
    return deletedField === undefined ? own : { ...own, [deletedField]: null }
  }
  const documentsIn = hasVersions(ownerOf(model)) ? versionedDocuments(model) : undefined
  const findBy = Effect.fnUntraced(function*(field: string, value: unknown) {
    const store = yield* DocumentStore
    const filter = filterBy(field, value)
    const [document] = documentsIn === undefined
      ? yield* store.find(model.modelName, { filter, limit: 1 })
      : yield* (yield* documentsIn(store)).find(filter)
    return document === undefined
      ? Option.none<Account>()
      // A stored account that is none of the model is a defect.
      : accountOf(yield* Effect.catchTag(fromDocument(document), "DocumentInvalid", Effect.die))
  })
  return {
    find: (login) =>
      Effect.flatMap(
        readLogin(login),
        (value) => value === undefined ? Effect.succeedNone : findBy(fields.login, value)
      ),
    loginOf: (login) =>
      Effect.map(readLogin(login), (value) => {
        const stored = value === undefined ? login : loginCodec?.encode(value)
        return typeof stored === "string" ? stored : JSON.stringify(stored)
      }),
    findBySubject: (subject) => {
      const id = subjects.parse(subject)
      return id === undefined ? Effect.succeedNone : findBy(idField, id)
    },
    // It is the same password, so the version stays.
    rehash: Effect.fnUntraced(function*({ secret, subject }, stronger) {
      const store = yield* DocumentStore
      const filter = { ...filterBy(idField, subjects.parse(subject)), [fields.secret]: Redacted.value(secret) }
      const update = { $set: { [fields.secret]: Redacted.value(stronger) } }
      if (documentsIn === undefined) yield* store.updateOne(model.modelName, filter, update)
      else yield* (yield* documentsIn(store)).update(filter, update)
    })
  }
}

/**
 * Hashes as the field of the secrets does. Dies if the fields can't be those of accounts: a login must be one account's, and
 * secrets must be hashed.
 *
 * @internal
 */
export const hasherOf = (
  model: ModelLike & Model.Any,
  { login, secret }: AccountFields,
  isHash: (value: unknown) => boolean
): Effect.Effect<(text: string) => Effect.Effect<string>> => {
  const isUnique = indexesOf(model).some(({ key, unique }) => unique === true && Object.keys(key).join() === login)
  if (!isUnique) {
    return mistake(`two of ${model.modelName} may have one ${login}. Add Model.indexed(Index.unique) to it`)
  }
  const { converter } = model[modelTypeId][secret] ?? {}
  const convert = converter?.convert ?? converter
  if (convert === undefined) return mistake(notHashed(model, secret))
  return Effect.map(convert("nobody"), (made) =>
    isHash(made)
      // It hashes: its results are texts.
      ? (text: string) => convert(text) as Effect.Effect<string>
      : undefined).pipe(
      Effect.flatMap((hash) => hash === undefined ? mistake(notHashed(model, secret)) : Effect.succeed(hash))
    )
}

// internal

/** The documents of a model in its newest version, deleted ones too, whatever version they are stored in. */
const versionedDocuments = (model: Model.Any) => {
  const scope = { deleted: "include" } as const
  const make = ({ find, run }: ModelCollection) => ({
    // Of a document that can't be read nobody knows whose login it has: it is not in the way of the others.
    find: (filter: Filter) => find({ filter: holdingRowFilters({ ...filter }, [filter]), limit: 1 }, scope),
    update: (filter: Filter, update: Update) =>
      run({ name: "updateOne", filter, update, scope }).pipe(
        Effect.catchTag(["AccessDenied", "FileQuotaExceeded"], Effect.die),
        Effect.catchTag(
          "ValidationException",
          ({ message }) => Effect.fail(new QueryRejected({ operation: "rehash", detail: message }))
        )
      )
  })
  const known = new WeakMap<DocumentStore["Service"], ReturnType<typeof make>>()
  return Effect.fnUntraced(function*(store: DocumentStore["Service"]) {
    const found = known.get(store)
    if (found !== undefined) return found
    const { collectionOf } = yield* collectionsOf([model], store)
    const made = make(collectionOf(model))
    known.set(store, made)
    return made
  })
}

const mistake = (problem: string) => Effect.die(new DeclarationError(`Accounts.fromModel: ${problem}`))

const notHashed = ({ modelName }: ModelLike, secret: string) =>
  `${modelName}.${secret} is not hashed. Add Model.converted(Converter.contentHasher()) to it`

const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((one) => typeof one === "string")

/** Reads a login as the field reads a value that a caller sends; `undefined` if it can't be one. */
const loginReader = (model: ModelLike, field: string): (text: string) => Effect.Effect<unknown> => {
  const { converter, unconverted } = model[modelTypeId][field] ?? {}
  // Every struct field is a schema, and needs no services.
  const schema = unwrapped(unconverted ?? model.store.fields[field] as Schema.Top) as Schema.Codec<unknown>
  const decode = SchemaParser.decodeUnknownExit(Schema.toCodecJson(schema), { disableChecks: true })
  const convert = converter?.convert ?? converter
  return (text) => {
    const value = decode(text)
    if (Exit.isFailure(value)) return Effect.undefined
    return convert === undefined ? Effect.succeed(value.value) : convert(value.value)
  }
}

/** The text of an identifier as a subject, and the identifier of a subject; `undefined` if it is none. */
const subjectsOf = (model: ModelLike) => {
  // A model of accounts has an identifier, whose schema needs no services.
  const shown = (shownIdOf(model) ?? idSchemaOf(model)) as Schema.Codec<unknown>
  const codec = Schema.toCodecStringTree(shown)
  const encode = SchemaParser.encodeUnknownExit(codec, { disableChecks: true })
  const decode = SchemaParser.decodeUnknownExit(codec, { disableChecks: true })
  const print = (id: unknown): string => {
    const text = encode(id)
    return Exit.isSuccess(text) && typeof text.value === "string" ? text.value : ""
  }
  const parse = (text: string): unknown => {
    const id = decode(text)
    // `07` is not the subject 7.
    return Exit.isSuccess(id) && print(id.value) === text ? id.value : undefined
  }
  return { print, parse }
}
