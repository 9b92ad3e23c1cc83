import { it } from "@effect/vitest"
import type { Layer } from "effect"
import { asMongo, type Differs } from "../../../test/support/serverDifferences.ts"
import type { DocumentStore } from "../src/DocumentStore.ts"
import { aggregateContract } from "./documentStore/aggregates.ts"
import { changesContract } from "./documentStore/changes.ts"
import { collatedIndexContract } from "./documentStore/collatedIndexes.ts"
import { collatedLanguageContract } from "./documentStore/collatedLanguage.ts"
import { collationContract } from "./documentStore/collation.ts"
import { concurrencyContract } from "./documentStore/concurrency.ts"
import { filterContract } from "./documentStore/filters.ts"
import { findOneAndContract } from "./documentStore/findOneAnd.ts"
import { geoContract } from "./documentStore/geo.ts"
import { indexContract } from "./documentStore/indexes.ts"
import { joinContract } from "./documentStore/joins.ts"
import { languageContract } from "./documentStore/language.ts"
import { lookupContract } from "./documentStore/lookups.ts"
import { accumulatorPages } from "./documentStore/manual/expressionsAccumulators.ts"
import { choosingAccumulatorPages } from "./documentStore/manual/expressionsAccumulatorsOfN.ts"
import { arithmeticPages } from "./documentStore/manual/expressionsArithmetic.ts"
import { arrayPages } from "./documentStore/manual/expressionsArrays.ts"
import { arrayReshapingPages } from "./documentStore/manual/expressionsArraysReshaped.ts"
import { arrayOrderPages } from "./documentStore/manual/expressionsArraysSorted.ts"
import { binaryPages } from "./documentStore/manual/expressionsBinary.ts"
import { conversionPages } from "./documentStore/manual/expressionsConversions.ts"
import { datePages } from "./documentStore/manual/expressionsDates.ts"
import { dateSumPages } from "./documentStore/manual/expressionsDateSums.ts"
import { logicPages } from "./documentStore/manual/expressionsLogic.ts"
import { objectPages } from "./documentStore/manual/expressionsObjects.ts"
import { patternPages } from "./documentStore/manual/expressionsPatterns.ts"
import { setPages } from "./documentStore/manual/expressionsSets.ts"
import { textPages } from "./documentStore/manual/expressionsTexts.ts"
import { trigonometryPages } from "./documentStore/manual/expressionsTrigonometry.ts"
import { methodPages } from "./documentStore/manual/methods.ts"
import { listQueryPages } from "./documentStore/manual/queriesLists.ts"
import { queryPages } from "./documentStore/manual/queriesOperators.ts"
import { queryTutorialPages } from "./documentStore/manual/queriesTutorials.ts"
import { schemaPages } from "./documentStore/manual/schemas.ts"
import { bucketPages } from "./documentStore/manual/stagesBuckets.ts"
import { fieldPages } from "./documentStore/manual/stagesFields.ts"
import { gapPages } from "./documentStore/manual/stagesGaps.ts"
import { graphPages } from "./documentStore/manual/stagesGraphs.ts"
import { joinPages } from "./documentStore/manual/stagesJoins.ts"
import { rootPages } from "./documentStore/manual/stagesRoots.ts"
import { selectionPages } from "./documentStore/manual/stagesSelections.ts"
import { shapePages } from "./documentStore/manual/stagesShapes.ts"
import { tutorialPages } from "./documentStore/manual/stagesTutorials.ts"
import { windowAccumulatorPages } from "./documentStore/manual/stagesWindowAccumulators.ts"
import { windowPages } from "./documentStore/manual/stagesWindows.ts"
import { writingPages } from "./documentStore/manual/stagesWrites.ts"
import { arrayUpdatePages } from "./documentStore/manual/updatesArrays.ts"
import { fieldUpdatePages } from "./documentStore/manual/updatesFields.ts"
import { positionalUpdatePages } from "./documentStore/manual/updatesPositional.ts"
import { modelContract } from "./documentStore/model.ts"
import { numberContract } from "./documentStore/numbers.ts"
import { pipelineContract } from "./documentStore/pipelines.ts"
import { pipelineUpdateContract } from "./documentStore/pipelineUpdates.ts"
import { pipelineWriteContract } from "./documentStore/pipelineWrites.ts"
import { positionalContract } from "./documentStore/positional.ts"
import { positionalCasesContract } from "./documentStore/positionalCases.ts"
import { readContract } from "./documentStore/reads.ts"
import { refusalContract } from "./documentStore/refusals.ts"
import { schemaContract } from "./documentStore/schemas.ts"
import { strictnessContract } from "./documentStore/strictness.ts"
import { transactionContract } from "./documentStore/transactions.ts"
import { updateContract } from "./documentStore/updates.ts"
import { valueContract } from "./documentStore/values.ts"
import { windowContract } from "./documentStore/windows.ts"
import { writeContract } from "./documentStore/writes.ts"

/** What a store of documents does, whichever it is: what MongoDB does, as far as an application relies on it. */
export const documentStoreContract = <E>(
  name: string,
  layer: Layer.Layer<DocumentStore, E>,
  differs: Differs = asMongo
) =>
  it.layer(layer)(`DocumentStore / ${name}`, (it) => {
    writeContract(it)
    readContract(it)
    filterContract(it)
    updateContract(it, differs)
    positionalContract(it, differs)
    positionalCasesContract(it, differs)
    refusalContract(it, differs)
    pipelineContract(it)
    pipelineUpdateContract(it, differs)
    lookupContract(it, differs)
    joinContract(it, differs)
    strictnessContract(it, differs)
    pipelineWriteContract(it, differs)
    languageContract(it, differs)
    changesContract(it, differs)
    windowContract(it, differs)
    geoContract(it, differs)
    indexContract(it)
    collationContract(it, differs)
    if (!differs("collation")) collatedLanguageContract(it)
    collatedIndexContract(it, differs)
    valueContract(it)
    numberContract(it, differs)
    findOneAndContract(it, differs)
    aggregateContract(it, differs)
    concurrencyContract(it)
    transactionContract(it)
    schemaContract(it, differs)
    modelContract(it)
    queryPages(it, differs)
    listQueryPages(it, differs)
    queryTutorialPages(it, differs)
    methodPages(it, differs)
    schemaPages(it, differs)
    bucketPages(it, differs)
    fieldPages(it, differs)
    gapPages(it, differs)
    graphPages(it, differs)
    joinPages(it, differs)
    rootPages(it, differs)
    selectionPages(it, differs)
    shapePages(it, differs)
    tutorialPages(it, differs)
    windowPages(it, differs)
    writingPages(it, differs)
    windowAccumulatorPages(it, differs)
    fieldUpdatePages(it, differs)
    arrayUpdatePages(it, differs)
    positionalUpdatePages(it, differs)
    arithmeticPages(it, differs)
    trigonometryPages(it, differs)
    arrayPages(it, differs)
    arrayReshapingPages(it, differs)
    arrayOrderPages(it, differs)
    conversionPages(it, differs)
    binaryPages(it, differs)
    datePages(it, differs)
    dateSumPages(it, differs)
    accumulatorPages(it, differs)
    choosingAccumulatorPages(it, differs)
    logicPages(it, differs)
    objectPages(it, differs)
    setPages(it, differs)
    patternPages(it, differs)
    textPages(it, differs)
  })
