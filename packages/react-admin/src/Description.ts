/**
 * What a service says of itself to the caller who asks: its resources, their fields, and what the caller may do. All of it is
 * read from the OpenAPI document and the metadata of the service; nothing is configured.
 *
 * @since 0.1.0
 */

/**
 * What the signed-in caller may see and do.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServiceDescription {
  readonly title: string
  readonly version: string
  readonly resources: ReadonlyArray<ResourceDescription>
  /** The operations of services, which belong to no resource. */
  readonly operations: ReadonlyArray<ActionDescription>
  /** Which of `/health` and `/metrics` the caller may ask; `undefined` if the service does not say it. */
  readonly monitoring?: ReadonlyArray<string> | undefined
}

/**
 * A collection of documents.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResourceDescription {
  /** The name of the registration, which is that of the resource in react-admin: `orders`. */
  readonly name: string
  /** The model of its documents: `Order`. */
  readonly model: string
  /** The path of the collection: `/api/v1/orders`. */
  readonly path: string
  readonly label: string
  readonly labelPlural: string
  readonly fields: ReadonlyArray<FieldDescription>
  readonly may: Allowed
  /** How documents are replaced, if they are: by a `PUT`, or by a `POST` with their identifier. */
  readonly replacedBy?: "PUT" | "POST" | undefined
  readonly actions: ReadonlyArray<ActionDescription>
  /** The fields of other resources that refer to documents of this one. */
  readonly referencedBy: ReadonlyArray<BackReference>
  /** The field that names a document to people. */
  readonly representation: string
  /** Whether `$text` is a filter. */
  readonly textSearch: boolean
  /** Whether deleted documents can be listed. */
  readonly isSoftDeleted: boolean
  /** Whether documents have a version, and writes of an earlier one are refused. */
  readonly isVersioned: boolean
  /** How many documents a page of the list has at most; `undefined` if the service does not say it. */
  readonly maxPageSize?: number | undefined
}

/**
 * What the caller may do with some documents of a resource. What they may do with one is in the `_links` of this one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Allowed {
  readonly list: boolean
  readonly get: boolean
  readonly create: boolean
  /** Whether fields of a document can be changed, by `PATCH`. */
  readonly update: boolean
  /** Whether a document can be replaced, by `PUT` or by a `POST` with its identifier. */
  readonly replace: boolean
  readonly delete: boolean
  /** Whether a deleted document can be restored. */
  readonly restore: boolean
  readonly purge: boolean
  readonly history: boolean
  /** Whether an earlier state of a document can be restored. */
  readonly restoreRevision: boolean
  readonly deleteMany: boolean
  readonly updateMany: boolean
  /** Whether the service itself makes tables of a list. Without it, the data provider does. */
  readonly csv: boolean
  /** Whether documents can be counted and summed up by a pipeline. */
  readonly aggregate: boolean
  /** Whether changes are streamed. */
  readonly watch: boolean
}

/**
 * A field that refers to documents of a resource.
 *
 * @category models
 * @since 0.1.0
 */
export interface BackReference {
  /** The label of the field. */
  readonly name: string
  /** The resource that has the field. */
  readonly resource: string
  /** The path of the field, which is a filter of the resource: `lines.product`. */
  readonly field: string
}

/**
 * What a form shows a field by.
 *
 * @category models
 * @since 0.1.0
 */
export type FieldType =
  | "text"
  | "longText"
  | "markdown"
  | "password"
  | "email"
  | "url"
  | "integer"
  | "number"
  | "decimal"
  | "boolean"
  | "date"
  | "dateTime"
  | "time"
  | "enum"
  | "reference"
  | "file"
  | "image"
  | "model"
  | "list"
  | "json"

/**
 * A field of a document, of a nested model, or an argument.
 *
 * @category models
 * @since 0.1.0
 */
export interface FieldDescription {
  readonly name: string
  /** Its path in the document, by which it is filtered: `lines.quantity`. */
  readonly path: string
  readonly type: FieldType
  /** The label in the language of the reader. */
  readonly label: string
  readonly help?: string | undefined
  readonly isRequired: boolean
  /** Whether it has to be sent in a new document, where `null` is a value of it. */
  readonly isNullable: boolean
  /** Whether the caller sets it neither in a new document nor later. */
  readonly isReadOnly: boolean
  /** Whether it is sent and never answered, as a password. */
  readonly isWriteOnly: boolean
  /** Whether the caller may set it in a new document. */
  readonly isSetOnCreate: boolean
  /** Whether the caller may set it in a document that is there. */
  readonly isSetOnUpdate: boolean
  readonly isFilterable: boolean
  readonly isSortable: boolean
  /** The members of an enumeration. */
  readonly choices?: ReadonlyArray<Choice> | undefined
  /** The resource of the documents that it refers to; without one, the caller sees no such resource. */
  readonly reference?: string | undefined
  /** The elements of a list. */
  readonly items?: FieldDescription | undefined
  /** The fields of a nested model. */
  readonly fields?: ReadonlyArray<FieldDescription> | undefined
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
  readonly minLength?: number | undefined
  readonly maxLength?: number | undefined
  readonly minItems?: number | undefined
  readonly maxItems?: number | undefined
  readonly pattern?: string | undefined
  /** The value that the service sets when there is none. */
  readonly default?: unknown
  /** What files it takes. */
  readonly file?: FileDescription | undefined
}

/**
 * A member of an enumeration.
 *
 * @category models
 * @since 0.1.0
 */
export interface Choice {
  readonly id: string | number | boolean
  readonly label: string
}

/**
 * What files a field takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface FileDescription {
  /** The media types; all without any. */
  readonly types: ReadonlyArray<string>
  /** In bytes. */
  readonly maxSize?: number | undefined
  /** The names of the sizes in which pictures are served. */
  readonly sizes: ReadonlyArray<string>
}

/**
 * An action of a document or a collection, or an operation of a service.
 *
 * @category models
 * @since 0.1.0
 */
export interface ActionDescription {
  /** Its name in its resource, `change_password`; that of an operation has its service: `payments.pay`. */
  readonly name: string
  readonly label: string
  /** What people call the service of an operation, if it is called otherwise than its registration. */
  readonly service?: string | undefined
  readonly help?: string | undefined
  readonly on: "item" | "collection" | "service"
  readonly method: string
  /** Its path, with the names of its parameters in braces: `/api/v1/users/{id}/change_password`. */
  readonly path: string
  readonly arguments: ReadonlyArray<FieldDescription>
  /** The arguments that are parameters of the URL; the others are members of the body. */
  readonly parameters: ReadonlyArray<string>
  readonly isDestructive: boolean
}
