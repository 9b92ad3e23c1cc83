/** Parses the parameters of a query by the schemas that describe them. */
import * as Record from "effect/Record"
import * as Result from "effect/Result"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import * as SchemaParser from "effect/SchemaParser"
import { BoundedCache } from "../../internal/boundedCache.ts"
import type { FieldProblem } from "../../Model/internal.ts"
import type { AnyParameters, Parameter } from "../description/queryParameters.ts"
import { fieldProblem } from "../messages/message.ts"

/** The parameters of a URL; repeated ones are lists. */
export interface Parameters {
  readonly [name: string]: string | ReadonlyArray<string> | undefined
}

export type ParameterValue = Parameters[string]

/** Parses a parameter, or its default. An invalid one adds a problem and returns `undefined`. */
export type ParameterReader<A> = (input: ParameterValue, problems: Array<FieldProblem>) => A | undefined

export type ParameterReaders<P> = {
  readonly [K in keyof P]: P[K] extends Parameter<infer A> | undefined ? ParameterReader<A> : never
}

/** Compiles the schemas of parameters by name. */
export const parameterReaders = <P extends AnyParameters>(parameters: P): ParameterReaders<P> =>
  // The names are those of the parameters.
  Record.map(parameters, (parameter, name) => readerOf(name, parameter)) as never

/** Compiles the parser of a query without filters. `unknown` is the message for any other parameter. */
export const queryReader = <P extends AnyParameters>(parameters: P, unknown: string) => {
  const readers: ParameterReaders<AnyParameters> = parameterReaders(parameters)
  const required = Object.keys(parameters).filter((name) => parameters[name]?.isRequired === true)
  return (input: Parameters): Result.Result<ParameterValues<P>, ReadonlyArray<FieldProblem>> => {
    const values: Record<string, unknown> = {}
    const problems: Array<FieldProblem> = []
    for (const name of new Set([...required, ...Object.keys(input)])) {
      if (Object.hasOwn(readers, name)) values[name] = readers[name]?.(input[name], problems)
      else problems.push({ field: name, validator: "Parameter", message: unknown })
    }
    // Without problems, every required parameter has a value.
    return problems.length > 0 ? Result.fail(problems) : Result.succeed(values as ParameterValues<P>)
  }
}

export type ParameterValues<P> =
  & {
    readonly [K in keyof P as P[K] extends { readonly isRequired: true } ? K : never]: ValueOf<P[K]>
  }
  & {
    readonly [K in keyof P as P[K] extends { readonly isRequired: true } ? never : K]?: ValueOf<P[K]>
  }

// internal

type ValueOf<P> = P extends Parameter<infer A> ? A : never

const readerOf = <A>(name: string, parameter: Parameter<A>): ParameterReader<A> => {
  const decode = decoderOf(parameter)
  const { byDefault, isRequired = false, message } = parameter
  const problem = typeof message === "string"
    ? { field: name, validator: "Parameter", message }
    : fieldProblem(name, "Parameter", message.key)
  return (input, problems) => {
    if (input === undefined && !isRequired) return byDefault
    const value = input === undefined ? undefined : decode(input)
    if (value === undefined) problems.push(problem)
    return value
  }
}

/** Caches the values of short texts, since most requests repeat them. */
const decoderOf = <A>({ schema }: Parameter<A>): (input: string | ReadonlyArray<string>) => A | undefined => {
  SchemaJITCompiler.enable(schema.ast)
  const parse = SchemaParser.decodeUnknownExit(schema)
  const decode = (input: string | ReadonlyArray<string>): A | undefined => {
    const exit = parse(input)
    return exit._tag === "Success" ? exit.value : undefined
  }
  const cache = new BoundedCache<A | undefined>(maxCached)
  return (input) =>
    typeof input === "string" && input.length <= maxCachedLength
      ? cache.getOrMake(input, () => decode(input))
      : decode(input)
}

const maxCachedLength = 32

const maxCached = 256
