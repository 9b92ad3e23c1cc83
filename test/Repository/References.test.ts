/** References between documents: checks of writes, and deletions of what is referred to. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Random, Schema } from "effect"
import { TestClock } from "effect/testing"
import { DocumentStore, type Filter } from "../../packages/document-store/src/DocumentStore.ts"
import * as Model from "../../src/Model/Model.ts"
import * as Repository from "../../src/Repository/Repository.ts"
import { withFilters } from "../support/decisions.ts"
import { Code, Folder, Patient, Step, Visit, Ward } from "../support/references.ts"
import { storeMatrix } from "../support/storeMatrix.ts"

const repositories = Layer.mergeAll(
  Repository.layer(Ward),
  Repository.layer(Patient),
  Repository.layer(Code),
  Repository.layer(Visit),
  Repository.layer(Folder)
)

const patientId = (id: string) => Patient.fields.id.make(id)

const patientOf = (id: string, ward?: string) =>
  new Patient({ id: patientId(id), name: id, version: 1, ...(ward === undefined ? {} : { ward }) })

const visitOf = (id: string, patient: string, more: Partial<Visit> = {}) =>
  new Visit({ id, patient: patientId(patient), others: [], steps: [], version: 1, ...more })

const folderOf = (id: string, parent?: string) =>
  new Folder({ id, revision: 0, ...(parent === undefined ? {} : { parent }) })

const tagOf = <A, E extends { readonly _tag: string }, R>(write: Effect.Effect<A, E, R>) =>
  Effect.match(write, { onFailure: ({ _tag }) => _tag, onSuccess: () => "written" })

storeMatrix((name, layer) =>
  describe(`References / ${name}`, () => {
    const all = Effect.gen(function*() {
      return {
        wards: yield* Repository.for(Ward),
        patients: yield* Repository.for(Patient),
        codes: yield* Repository.for(Code),
        visits: yield* Repository.for(Visit),
        folders: yield* Repository.for(Folder)
      }
    })

    it.layer(Layer.provideMerge(repositories, layer))((it) => {
      it.effect("a write is refused that adds a reference which leads nowhere", () =>
        Effect.gen(function*() {
          const { patients, visits } = yield* all
          yield* patients.insert(patientOf("P1"))
          yield* visits.insert(visitOf("V1", "P1", { others: [patientId("P1")] }))
          const error = yield* Effect.flip(visits.insert(visitOf("V2", "none")))
          assert.deepStrictEqual([error._tag, error.message], [
            "ValidationException",
            "The property patient on class Visit must be the identifier of an existing Patient"
          ])
          const none = patientId("none")
          assert.deepStrictEqual(
            yield* Effect.forEach([
              visits.insert(visitOf("V2", "P1", { others: [patientId("P1"), none] })),
              visits.save(visitOf("V1", "P1", { follows: "V9" })),
              visits.replace(visitOf("V1", "P1", { others: [none] })),
              visits.patch("V1", { patient: none }),
              visits.updateOne(($) => $.id.equals("V1"), ($) => [$.others.append(none)]),
              visits.updateMany(undefined, ($) => [$.patient.set(none)]),
              visits.findOneAndUpdate(undefined, ($) => [$.others.set([none])])
            ], (write) => tagOf<unknown, { readonly _tag: string }, never>(write)),
            Array.from({ length: 7 }, () => "ValidationException")
          )
          const lost = visits.insert(visitOf("V2", "none", { others: [patientId("P1"), none], follows: "V9" }))
          const invalid = yield* Effect.flip(lost)
          assert.deepStrictEqual("problems" in invalid ? invalid.problems.map(({ field }) => field) : [], [
            "patient",
            "others",
            "follows"
          ])
          assert.deepStrictEqual((yield* visits.findById("V1")).version, 1)
          // A document may refer to itself.
          yield* visits.insert(visitOf("V3", "P1", { follows: "V3" }))
          yield* visits.patch("V1", { follows: "V3" })
          assert.strictEqual(yield* visits.count(), 2)
          yield* visits.deleteAll
          yield* patients.deleteAll
        }))

      it.effect("a save tells nothing of what a document refers to that the caller does not see", () =>
        Effect.gen(function*() {
          const { patients, visits } = yield* all
          yield* patients.bulkInsert(["P1", "P7", "P8"].map((id) => patientOf(id)))
          yield* visits.insert(visitOf("V9", "P7"))
          const rows: Filter = { _id: { $in: ["V1", "P1"] } }
          const asCaller = withFilters({ rows: () => rows, check: () => rows })
          const tags = yield* Effect.forEach(["P7", "P8", "none"], (patient) =>
            tagOf<unknown, { readonly _tag: string }, never>(asCaller(visits.save(visitOf("V9", patient)))))
          assert.deepStrictEqual(tags, ["ValidationException", "ValidationException", "ValidationException"])
          yield* visits.deleteAll
          yield* patients.deleteAll
        }))

      it.effect("a bulk insert keeps what comes before a reference that leads nowhere", () =>
        Effect.gen(function*() {
          const { patients, visits } = yield* all
          yield* patients.insert(patientOf("P1"))
          const list = [
            visitOf("V1", "P1"),
            visitOf("V2", "P1", { follows: "V1" }),
            visitOf("V3", "none"),
            visitOf("V1", "P1"),
            visitOf("V4", "P1", { follows: "V2" })
          ]
          const failuresOf = (ordered: boolean) =>
            Effect.map(
              Effect.flip(visits.bulkInsert(list, { ordered })),
              (error) =>
                error._tag === "BulkInsertFailed"
                  ? [
                    error.insertedCount,
                    ...error.failures.map(({ error, index }) =>
                      `${index} ${error._tag}`
                    )
                  ]
                  : [error._tag]
            )
          assert.deepStrictEqual(yield* failuresOf(true), [2, "2 ValidationException"])
          yield* visits.deleteAll
          assert.deepStrictEqual(yield* failuresOf(false), [3, "2 ValidationException", "3 DuplicateKey"])
          yield* visits.deleteAll
          assert.strictEqual(yield* visits.bulkInsert([list[0]!, list[1]!, list[4]!]), 3)
          yield* visits.deleteAll
          yield* patients.deleteAll
        }))

      it.effect("restrict refuses a deletion, unless what refers is deleted too", () =>
        Effect.gen(function*() {
          const { patients, visits, wards } = yield* all
          yield* wards.insert(new Ward({ id: "W1", name: "north" }))
          yield* patients.bulkInsert([patientOf("P1", "W1"), patientOf("P2", "W1"), patientOf("P3")])
          yield* visits.insert(visitOf("V1", "P2"))
          const error = yield* Effect.flip(patients.deleteById(patientId("P2")))
          assert.deepStrictEqual([error._tag, error.message], [
            "DocumentReferenced",
            "Patient P2 can't be deleted, because the patient of a stored Visit refers to it"
          ])
          assert.deepStrictEqual(
            yield* Effect.forEach([
              patients.deleteById(patientId("P2"), { version: 1 }),
              patients.deleteMany(($) => $.name.matches(/^P/u)),
              patients.deleteAll,
              // By way of the patients of the ward.
              wards.deleteById("W1")
            ], (write) => tagOf<unknown, { readonly _tag: string }, never>(write)),
            Array.from({ length: 4 }, () => "DocumentReferenced")
          )
          assert.strictEqual(yield* tagOf(patients.deleteById(patientId("P2"), { version: 7 })), "VersionConflict")
          assert.deepStrictEqual([yield* patients.count(), yield* wards.count()], [3, 1])
          yield* visits.deleteAll
          yield* wards.deleteById("W1")
          assert.deepStrictEqual((yield* patients.find()).map(({ id }) => id), ["P3"])
          yield* patients.deleteAll
        }))

      it.effect("null removes references from fields, lists, nested models and structs, and counts versions", () =>
        Effect.gen(function*() {
          const { codes, patients, visits } = yield* all
          const [one, two] = ["0123456789abcdef01234567", "0123456789abcdef01234568"] as const
          yield* codes.bulkInsert([one, two].map((id) => new Code({ id, text: id })))
          yield* patients.bulkInsert(["P1", "P2", "P3"].map((id) => patientOf(id)))
          yield* visits.insert(visitOf("V0", "P1"))
          yield* visits.insert(visitOf("V1", "P1", {
            others: [patientId("P2"), patientId("P3"), patientId("P2")],
            steps: [new Step({ text: "a", code: one }), new Step({ text: "b", code: two }), new Step({ text: "c" })],
            plan: { next: one },
            follows: "V0"
          }))
          yield* patients.deleteById(patientId("P2"))
          yield* codes.deleteById(one)
          yield* visits.deleteById("V0")
          assert.deepStrictEqual(
            { ...yield* visits.findById("V1") },
            {
              ...visitOf("V1", "P1", {
                others: [patientId("P3")],
                steps: [new Step({ text: "a" }), new Step({ text: "b", code: two }), new Step({ text: "c" })],
                plan: {}
              }),
              version: 5
            }
          )
          yield* visits.deleteAll
          yield* patients.deleteAll
          yield* codes.deleteAll
        }))

      it.effect("null leaves null where a field has to be there", () =>
        Effect.gen(function*() {
          class Part extends Model.Class<Part>()("Part", {
            code: Schema.NullOr(Model.reference(() => Code, { onDelete: "null" })),
            text: Schema.String
          }) {}
          class Holder extends Model.Class<Holder>()("Holder", {
            id: Model.id(),
            code: Schema.NullOr(Model.reference(() => Code, { onDelete: "null" })),
            maybe: Schema.NullOr(Model.reference(() => Code, { onDelete: "null" })).pipe(Model.optional),
            part: Part,
            parts: Schema.Array(Part)
          }) {}
          const { codes } = yield* all
          const holders = yield* Repository.make(Holder)
          const id = "0123456789abcdef01234569"
          yield* codes.insert(new Code({ id, text: "a" }))
          const part = new Part({ code: id, text: "b" })
          yield* holders.insert(new Holder({ id: "H1", code: id, maybe: id, part, parts: [part] }))
          yield* codes.deleteById(id)
          const none = new Part({ code: null, text: "b" })
          assert.deepStrictEqual(
            { ...yield* holders.findById("H1") },
            { ...new Holder({ id: "H1", code: null, part: none, parts: [none] }) }
          )
        }))

      it.effect("cascade follows circles, and deletes as each model does: softly, with a history", () =>
        Effect.gen(function*() {
          const { folders } = yield* all
          yield* folders.bulkInsert([
            folderOf("A"),
            folderOf("B", "A"),
            folderOf("C", "B"),
            folderOf("D"),
            folderOf("E", "D")
          ])
          yield* folders.patch("A", { parent: "C" })
          yield* folders.deleteById("B")
          assert.deepStrictEqual((yield* folders.find()).map(({ id }) => id), ["D", "E"])
          assert.strictEqual(yield* folders.count(undefined, { deleted: "only" }), 3)
          const states = yield* folders.history("A")
          assert.deepStrictEqual(states.map(({ change }) => change), ["delete", "patch", "insert"])
          // What it refers to is deleted.
          assert.strictEqual(yield* tagOf(folders.restoreById("C")), "ValidationException")
          yield* folders.deleteById("E")
          yield* folders.restoreById("E")
          yield* folders.deleteById("E")
          yield* folders.purgeById("D")
          assert.strictEqual(yield* folders.count(undefined, { deleted: "include" }), 3)
          yield* folders.purge()
          assert.strictEqual(yield* folders.count(undefined, { deleted: "include" }), 0)
        }))

      // Stores without serializable transactions draw the locks of writes: the first and the last ones as well as any.
      it.effect.each([0, 0.5, 1 - Number.EPSILON])(
        "no reference is left behind when many fibers refer to documents that others delete, with locks at %d",
        (drawn) =>
          TestClock.withLive(Effect.gen(function*() {
            const { patients, visits, wards } = yield* all
            for (let round = 0; round < 4; round++) {
              const ids = Array.from({ length: 4 }, (_, i) => `P${round}${i}`)
              yield* wards.insert(new Ward({ id: `W${round}`, name: "x" }))
              yield* patients.bulkInsert(ids.map((id) => patientOf(id, `W${round}`)))
              const tags = yield* Effect.forEach(
                [
                  ...ids.flatMap((id, i) => [
                    ...[0, 1, 2].map((j) =>
                      Effect.asVoid(
                        visits.insert(visitOf(`V${id}${j}`, id, { others: [patientId(ids[(i + 1) % 4]!)] }))
                      )
                    ),
                    patients.deleteById(patientId(id)),
                    Effect.asVoid(patients.insert(patientOf(`Q${id}`, `W${round}`)))
                  ]),
                  wards.deleteById(`W${round}`)
                ],
                (write) => tagOf<void, { readonly _tag: string }, never>(write),
                { concurrency: "unbounded" }
              )
              const known = new Set(["written", "ValidationException", "DocumentReferenced", "DocumentNotFound"])
              assert.deepStrictEqual(tags.filter((tag) => !known.has(tag)), [])
              const left = new Set((yield* patients.find()).map(({ id }) => id))
              const referred = (yield* visits.find()).flatMap(({ others, patient }) => [patient, ...others])
              assert.deepStrictEqual(referred.filter((id) => !left.has(id)), [])
              const wardsLeft = new Set((yield* wards.find()).map(({ id }) => id))
              assert.deepStrictEqual(
                (yield* patients.find()).filter(({ ward }) => ward !== undefined && !wardsLeft.has(ward)),
                []
              )
            }
            yield* visits.deleteAll
            yield* patients.deleteAll
            yield* wards.deleteAll
          })).pipe(
            Effect.provideService(Random.Random, { nextDoubleUnsafe: () => drawn, nextIntUnsafe: () => 0 })
          )
      )

      it.effect("make no repository if they can't be removed or found", () =>
        Effect.gen(function*() {
          const code = Model.reference(() => Code, { onDelete: "null" })
          const Kept = Model.Class<object>()("Kept", { id: Model.id(), code })
          const Named = Model.Class<object>()("Named", { id: Model.id(), codes: Schema.Record(Schema.String, code) })
          const messages = yield* Effect.forEach(
            [Kept, Named],
            (model) => Effect.map(Effect.exit(Repository.make(model)), (exit) => String(exit))
          )
          assert.include(messages[0], "Kept.code has onDelete \"null\", so it has to be optional or a list")
          assert.include(messages[1], "Named.codes is a record, in which no path leads to references")
        }))

      it.effect("are found by indexes, which are installed if a deletion asks for them", () =>
        Effect.gen(function*() {
          const store = yield* DocumentStore
          const names = Effect.fnUntraced(function*(collection: string) {
            return (yield* store.listIndexes(collection)).map(({ name }) => name).toSorted()
          })
          assert.deepStrictEqual(yield* names("Visit"), [
            "follows_1",
            "others_1",
            "patient_1",
            "plan.next_1",
            "steps.code_1"
          ])
          assert.deepStrictEqual(yield* names("Code"), [])
        }))
    })
  })
)
