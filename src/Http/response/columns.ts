/** The columns of a model's documents as a table. */
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { modelOf, unwrapped } from "../../Model/internal.ts"
import type * as Model from "../../Model/Model.ts"
import { nonNullType, takesNull } from "../query/queryFields.ts"

export interface Column {
  readonly name: string
  readonly path: ReadonlyArray<string>
  /** The type of its values. */
  readonly ast: SchemaAST.AST
  /** What each part of the path has where it has no value: no member, or `null`. */
  readonly empties: ReadonlyArray<"absent" | "null" | "required">
}

/** The column of the time of a deletion, which deleted documents have beside their fields. */
export const deletionTime: Column = {
  name: "deleted",
  path: ["deleted"],
  ast: Schema.String.ast,
  empties: ["absent"]
}

/** A column for each value of the fields, by its path; a list or a record is one value. */
export const columnsOf = (model: Model.Any, fields: Schema.Struct.Fields): ReadonlyArray<Column> =>
  membersOf(fields).flatMap((member) => columnsIn(member, none, [model]))

// internal

interface Member {
  readonly key: string
  readonly ast: SchemaAST.AST
  readonly empty: Column["empties"][number]
}

const none: Pick<Column, "empties" | "path"> = { path: [], empties: [] }

const membersOf = (fields: Schema.Struct.Fields): ReadonlyArray<Member> =>
  Object.entries(fields).flatMap(([key, field]): ReadonlyArray<Member> => {
    if (key === "_type") return []
    // Every struct field is a schema.
    const schema = field as Schema.Top
    return [{ key, ast: unwrapped(schema).ast, empty: emptyOf(schema.ast) }]
  })

const emptyOf = (ast: SchemaAST.AST): Member["empty"] =>
  takesNull(ast) ? "null" : SchemaAST.isOptional(SchemaAST.toEncoded(ast)) ? "absent" : "required"

/** A value that may hold one of its own kind is one column from there on. */
const columnsIn = (
  { ast, empty, key }: Member,
  { empties, path }: Pick<Column, "empties" | "path">,
  around: ReadonlyArray<unknown>
): ReadonlyArray<Column> => {
  const own = nonNullType(ast)
  const model = modelOf(own)
  const members = model !== undefined
    ? membersOf(model.wire.fields)
    : own._tag === "Objects" && own.encoding === undefined && own.indexSignatures.length === 0
    ? own.propertySignatures.map(({ name, type }): Member => ({ key: String(name), ast: type, empty: emptyOf(type) }))
    : []
  const kind = model ?? own
  const place = { path: [...path, key], empties: [...empties, empty] }
  return members.length === 0 || around.includes(kind)
    ? [{ ...place, name: place.path.join("."), ast }]
    : members.flatMap((member) => columnsIn(member, place, [...around, kind]))
}
