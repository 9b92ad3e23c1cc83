/** The names that collections may have: those that MongoDB takes, so that a store can be copied to it. */
import { type Problem, queryProblem } from "@appkernel/mql/internal"
import * as Result from "effect/Result"

/** Whether a collection may be made by this name, by the rules of MongoDB and its driver. */
export const checkedName = (name: string): Result.Result<string, Problem> =>
  /^$|\$|\0|^\.|\.\.|\.$|^system\./u.test(name)
    ? Result.fail(queryProblem(`a collection can't have the name ${JSON.stringify(name)}`))
    : Result.succeed(name)
