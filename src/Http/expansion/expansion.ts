/**
 * Embeds the documents that others refer to: one query of the store for each path and level, whatever the number of documents.
 * What is embedded is what `GET` of the same document answers to the same caller.
 */
import * as Effect from "effect/Effect"
import { quote } from "../../internal/json.ts"
import type { FieldProblem } from "../../Model/internal.ts"
import type { Document, Filter } from "../../Repository/DocumentStore.ts"
import { allOf, identifierOf, idsAt, uniqueTextOfId } from "../../Repository/internal.ts"
import { badRequestOf } from "../messages/message.ts"
import { namingOf } from "../query/partlyHiddenFields.ts"
import * as QueryFields from "../query/queryFields.ts"
import { type Expand, selectedFields } from "../query/urlQuery.ts"
import type { Referring, Relation } from "../registration/relations.ts"
import { type HandlerFailure, isRefusal } from "../response/handlerFailures.ts"
import { embeddedInto, logUnreadable } from "../response/representation.ts"
import { type WireText, wireTextOf, WireTexts } from "../response/wireText.ts"
import { Budget, limitProblem } from "./budget.ts"
import type { Door, Doors, Embed, Embeddable, EmbeddedOf, Entered } from "./embeddable.ts"
import { once, type PageReading, type ReadPage, readPage } from "./page.ts"
import { countReferring, listText, referringFilter } from "./referring.ts"

/** What a request expands, with the decisions on its caller. */
export interface Expansion {
  readonly embed: Embed
  /** Reads a page, and what its documents refer to. */
  readonly page: (reading: PageReading) => Effect.Effect<ReadPage, HandlerFailure>
}

/** Decides what of the paths the caller may read. Fails for a path that there is not for the caller. */
export const plan = (
  from: Pick<Embeddable, "limits" | "relations" | "view">,
  { fields, paths }: Expand,
  doors: Doors
): Effect.Effect<Expansion, HandlerFailure> => {
  const { limits } = from
  if (paths.length > limits.maxExpandPaths) {
    return Effect.fail(badRequestOf([limitProblem(`can't take more than ${limits.maxExpandPaths} paths`)]))
  }
  const asked = { paths: named(paths), fields: named(fields), depth: 1, isLenient: false }
  return Effect.map(stepsOf(from, asked, doors), (steps) => {
    const embed: Embed = (documents, shows, reserve) => {
      const budget = new Budget(limits)
      return embedding({ budget, doors, reserve: once(reserve) }, steps, documents, shows)
    }
    return { embed, page: (reading) => readPage(embed, reading, limits) }
  })
}

// internal

const named = (texts: ReadonlyArray<string>): ReadonlyArray<Name> => texts.map((text) => ({ text, sent: text }))

/** A name below a document, with the whole of what was sent. */
interface Name {
  readonly text: string
  readonly sent: string
}

interface Asked {
  readonly paths: ReadonlyArray<Name>
  readonly fields: ReadonlyArray<Name>
  /** The number of references that lead there. */
  readonly depth: number
  /** Whether names that there are not are left out: a document that is decided on by itself may lack any field. */
  readonly isLenient: boolean
}

/** A relation of some documents that a request expands. */
interface Step {
  readonly relation: Relation
  /** Whether there may be several documents. */
  readonly isList: boolean
  /** What the request says of the documents that it leads to. */
  readonly asked: Asked
  readonly door: Door
  /** The documents for the caller; `undefined` if there are none. It is decided for each document by itself otherwise. */
  readonly target: Target | "each" | undefined
}

interface Target extends Entered {
  readonly steps: ReadonlyArray<Step>
  /** The fields to select; all if `undefined`. */
  readonly fields: ReadonlyArray<string> | undefined
}

/** The relation that a name begins with. No name of a relation begins another one's. */
const relationIn = (
  { relations, view }: Pick<Embeddable, "relations" | "view">,
  name: string
): readonly [Relation, QueryFields.QueryField | undefined] | undefined => {
  const relation = relations.find((one) => name === one.name || name.startsWith(`${one.name}.`))
  const field = relation && QueryFields.of(view.model).field(relation.name)
  return relation === undefined || field === undefined && relation.referring === undefined
    ? undefined
    : [relation, field]
}

/** The steps from documents, by the decisions on the caller. */
const stepsOf = (
  from: Pick<Embeddable, "limits" | "relations" | "view">,
  { depth, fields, isLenient, paths }: Asked,
  doors: Doors
): Effect.Effect<ReadonlyArray<Step>, HandlerFailure> => {
  const problems: Array<FieldProblem> = []
  const found = new Map<
    Relation,
    { readonly isList: boolean; readonly paths: Array<Name>; readonly fields: Array<Name> }
  >()
  const { maxExpandDepth } = from.limits
  const report = (problem: FieldProblem): void => {
    if (!isLenient) problems.push(problem)
  }
  for (const { sent, text } of paths) {
    const [relation, field] = relationIn(from, text) ?? []
    if (depth > maxExpandDepth) {
      problems.push(limitProblem(`can't follow more than ${maxExpandDepth} references in one path`))
    } else if (relation === undefined) {
      report({ field: "expand", validator: "Parameter", message: `"${sent}" is not a path to expand` })
    } else {
      const isList = field !== undefined && (field.isList || field.list !== undefined)
      const below = found.get(relation) ?? { isList, paths: [], fields: [] }
      found.set(relation, below)
      if (text !== relation.name) below.paths.push({ text: text.slice(relation.name.length + 1), sent })
    }
  }
  for (const { sent, text } of fields) {
    const [relation] = relationIn(from, text) ?? []
    const below = relation && found.get(relation)
    if (relation === undefined || below === undefined || text === relation.name) report(unselectable(sent))
    else below.fields.push({ text: text.slice(relation.name.length + 1), sent })
  }
  return problems.length > 0
    ? Effect.fail(badRequestOf(problems))
    : Effect.forEach(found, ([relation, { isList, ...below }]) => {
      const door = doors.get(relation.target.path)
      // A list is decided on as a whole.
      const isForEach = door?.isForEach === true && relation.referring === undefined
      const asked = { ...below, depth: depth + 1, isLenient: isLenient || isForEach }
      if (door === undefined) return Effect.succeed([])
      const target: Effect.Effect<Step["target"], HandlerFailure> = isForEach
        ? Effect.succeed("each")
        : Effect.flatMap(
          door.enter(undefined),
          (entered) => entered === undefined ? Effect.undefined : targetOf(entered, asked, doors)
        )
      return Effect.map(target, (target): ReadonlyArray<Step> => [{ relation, isList, asked, door, target }])
    }).pipe(Effect.map((steps) => steps.flat()))
}

const targetOf = (entered: Entered, asked: Asked, doors: Doors): Effect.Effect<Target, HandlerFailure> => {
  const { view } = entered.embeddable
  const own = asked.fields.filter(({ text }) => !text.startsWith(embedded))
  const { selected, unknown } = selectedFields(view.model, own.map(({ text }) => text))
  if (unknown.length > 0 && !asked.isLenient) {
    const problems = own.flatMap(({ sent, text }) => unknown.includes(text) ? [unselectable(sent)] : [])
    return Effect.fail(badRequestOf(problems))
  }
  const fields = asked.fields.flatMap(({ sent, text }) =>
    text.startsWith(embedded) ? [{ text: text.slice(embedded.length), sent }] : []
  )
  return Effect.map(stepsOf(entered.embeddable, { ...asked, fields }, doors), (steps) => ({
    ...entered,
    steps,
    fields: own.length === 0 ? undefined : selected
  }))
}

const embedded = "_embedded."

const unselectable = (sent: string): FieldProblem => ({
  field: "fields",
  validator: "Parameter",
  message: `"${embedded}${sent}" is not a field to select`
})

/** What all levels of one response share. */
interface Run<E> {
  readonly budget: Budget
  readonly doors: Doors
  readonly reserve: Effect.Effect<void, E>
}

/** The texts of documents as they are sent, by the unique texts of their identifiers. */
type Texts = ReadonlyMap<string, WireText>

const embedding = <E>(
  run: Run<E>,
  steps: ReadonlyArray<Step>,
  documents: ReadonlyArray<Document>,
  shows: (document: Document, field: string) => boolean
): Effect.Effect<EmbeddedOf, HandlerFailure | E> =>
  Effect.map(
    Effect.forEach(steps, (step): Effect.Effect<MemberOf, HandlerFailure | E> => {
      const { isList, relation: { name, path, referring } } = step
      const head = wireTextOf(isList ? `${quote(name)}:[` : `${quote(name)}:`)
      if (referring !== undefined) {
        return Effect.map(listsOf(run, step, referring, documents), (lists) => (place) => {
          const list = lists.get(uniqueTextOfId(documents[place]?.["_id"]))
          return list && { text: head.text + list.text, isAscii: head.isAscii && list.isAscii }
        })
      }
      const ids = new Map<string, unknown>()
      const keys = documents.map((document) => {
        if (!shows(document, name)) return undefined
        const own = idsAt(document, path).map((id) => {
          const key = uniqueTextOfId(id)
          ids.set(key, id)
          return key
        })
        return own.length < 2 ? own : new Set(own)
      })
      return Effect.map(textsOf(run, step, ids), (texts) => (place) => {
        const own = keys[place]
        if (own === undefined) return undefined
        const found = new WireTexts()
        for (const key of own) {
          const text = texts.get(key)
          if (text !== undefined) found.add(text)
        }
        return isList ? found.within(head, listEnd) : found.text === "" ? undefined : found.within(head, nothing)
      })
    }),
    (members) => (place) => {
      const all = new WireTexts()
      for (const memberOf of members) {
        const member = memberOf(place)
        if (member !== undefined) all.add(member)
      }
      return all.within(start, end)
    }
  )

const start = wireTextOf(`"_embedded":{`)
const end = wireTextOf("}")
const listEnd = wireTextOf("]")
const nothing = wireTextOf("")

/** A member of `_embedded` of the document at a place, as it is sent. */
type MemberOf = (place: number) => WireText | undefined

const none: Texts = new Map()

const textsOf = <E>(
  run: Run<E>,
  { asked, door, relation, target }: Step,
  ids: ReadonlyMap<string, unknown>
): Effect.Effect<Texts, HandlerFailure | E> => {
  if (target === undefined || ids.size === 0) return Effect.succeed(none)
  const counted = run.budget.read(ids.size)
  if (target !== "each") return Effect.andThen(counted, read(run, target, [...ids.values()]))
  const { print } = identifierOf(relation.target.model)
  return Effect.andThen(
    counted,
    Effect.map(
      Effect.forEach(
        ids.values(),
        (id) =>
          Effect.flatMap(
            door.enter(print(id)),
            (entered) =>
              entered === undefined ? Effect.succeed(none) : Effect.flatMap(
                targetOf(entered, asked, run.doors),
                (target) => read(run, target, [id])
              )
          )
      ),
      (all) => new Map(all.flatMap((texts) => [...texts]))
    )
  )
}

/** The lists of what refers to documents, by the unique texts of their identifiers: for each the one that `GET` answers. */
const listsOf = <E>(
  run: Run<E>,
  { asked, relation, target }: Step,
  referring: Referring,
  documents: ReadonlyArray<Document>
): Effect.Effect<Texts, HandlerFailure | E> => {
  if (target === undefined || target === "each" || documents.length === 0) return Effect.succeed(none)
  const { afterListed, beforeList, limits, model, view } = target.embeddable
  const field = QueryFields.of(view.model).field(referring.field)
  if (field === undefined) return Effect.succeed(none)
  const parents = new Map(documents.map((document) => [uniqueTextOfId(document["_id"]), document["_id"]]))
  const parameters = Object.fromEntries(
    Object.entries({ fields: asked.fields, expand: asked.paths }).flatMap(([name, names]) =>
      names.length === 0 ? [] : [[name, names.map(({ text }) => text).join()]]
    )
  )
  return target.within(Effect.gen(function*() {
    if (beforeList !== undefined && !(yield* isRead(beforeList))) return none
    const naming = yield* Effect.withFiber((fiber) => Effect.succeed(namingOf(model, view.of(fiber).partlyHidden)))
    naming?.access.field(referring.field)
    const condition = referringFilter(field.path, [...parents.values()], naming?.condition())
    const children = yield* countReferring(
      target.embeddable,
      field,
      [...parents.values()],
      naming?.condition(),
      run.budget
    )
    const refused = new Set<string>()
    const texts = yield* readWithin(run, target, [...new Set([...children.values()].flatMap(({ ids }) => ids))], {
      before: undefined,
      condition,
      after: afterListed && ((document) =>
        Effect.tap(isRead(afterListed(document)), (isShown) =>
          Effect.sync(() => {
            if (!isShown) refused.add(uniqueTextOfId(document["_id"]))
          })))
    })
    const lists = new Map<string, WireText>()
    for (const [key, id] of parents) {
      const { ids, total } = children.get(key) ?? { ids: [], total: 0 }
      const keys = ids.map(uniqueTextOfId)
      // A hook that refuses one document refuses its list.
      if (keys.some((key) => refused.has(key))) continue
      const items = keys.flatMap((key) => texts.get(key) ?? [])
      const list = listText(relation.target.path, referring, id, {
        items,
        pageSize: limits.defaultPageSize,
        parameters,
        total
      })
      const pause = run.budget.wrote(list)
      if (pause !== undefined) yield* pause
      lists.set(key, list)
    }
    return lists
  }))
}

/** How documents of a target are read, beside their identifiers. */
interface Reading {
  /** Whether a document may be read, by its identifier; `undefined` if all may. */
  readonly before: ((id: unknown) => Effect.Effect<boolean, HandlerFailure>) | undefined
  readonly after: ((document: Document) => Effect.Effect<boolean, HandlerFailure>) | undefined
  readonly condition: Filter | undefined
}

/** A document and its own text, without what is embedded. */
interface Own {
  readonly document: Document
  readonly wire: WireText
}

/** Reads documents by one query, and what is embedded into them. */
const read = <E>(
  run: Run<E>,
  target: Target,
  ids: ReadonlyArray<unknown>
): Effect.Effect<Texts, HandlerFailure | E> => {
  const { afterEach, beforeEach, model } = target.embeddable
  const { valueOf } = identifierOf(model)
  return target.within(readWithin(run, target, ids, {
    before: beforeEach && ((id) => isRead(beforeEach(valueOf(id)))),
    after: afterEach && ((document) => isRead(afterEach(document))),
    condition: undefined
  }))
}

const readWithin = <E>(
  run: Run<E>,
  { embeddable, fields, steps }: Target,
  ids: ReadonlyArray<unknown>,
  { after, before, condition }: Reading
): Effect.Effect<Texts, HandlerFailure | E> => {
  const { documents, limits, model, representations } = embeddable
  return Effect.gen(function*() {
    const wanted = before === undefined ? ids : yield* Effect.filter(ids, before)
    const representation = yield* Effect.withFiber((fiber) => Effect.succeed(representations(fiber)))
    const textsOf = representation.wiresOf(fields)
    const read: Array<Own> = []
    const unreadable: Array<Document> = []
    let bytes = 0
    const take = (some: ReadonlyArray<Document>): boolean => {
      const textAt = textsOf(some)
      for (const [i, document] of some.entries()) {
        const wire = textAt(i)
        if (wire === undefined) unreadable.push(document)
        else read.push({ document, wire })
        bytes += wire?.text.length ?? 0
      }
      return bytes <= limits.maxPageBytes
    }
    if (wanted.length > 0) {
      const filter = allOf({ _id: { $in: wanted } }, condition) ?? {}
      yield* documents.find({ filter, timeLimit: limits.queryTimeout, take })
    }
    if (bytes > limits.maxPageBytes) return yield* run.budget.exceeded
    const [first] = unreadable
    if (first !== undefined) {
      if (!limits.skipUnreadable) yield* representation.corrupt(first)
      yield* logUnreadable(model, unreadable)
    }
    const found = after === undefined ? read : yield* Effect.filter(read, ({ document }) => after(document))
    const embeddedOf = steps.length === 0
      ? undefined
      : yield* embedding(run, steps, found.map(({ document }) => document), representation.shows)
    const texts = new Map<string, WireText>()
    for (let place = 0; place < found.length; place++) {
      const { document, wire } = found[place]!
      const whole = embeddedOf === undefined ? wire : embeddedInto(wire, embeddedOf(place))
      const pause = run.budget.wrote(whole)
      if (pause !== undefined) yield* pause
      if (run.budget.isLarge) yield* run.reserve
      texts.set(uniqueTextOfId(document["_id"]), whole)
    }
    return texts
  })
}

/** Whether the hooks of a document let it be read. What is neither a 403 nor a 404 there ends this request, too. */
const isRead = (hooks: Effect.Effect<void, HandlerFailure>): Effect.Effect<boolean, HandlerFailure> =>
  Effect.matchEffect(hooks, {
    onSuccess: () => Effect.succeed(true),
    onFailure: (error) => isRefusal(error) ? Effect.succeed(false) : Effect.fail(error)
  })
