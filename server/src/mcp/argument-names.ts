import { badField, Failure } from '../kernel/errors.ts'
import type { AgentTool } from './tool.ts'

/** Names fields of an endpoint as the arguments of a tool: `prefixes` replaces the beginning of a field. */
export function withArgumentNames(failure: Failure, prefixes: ReadonlyMap<string, string>): Failure {
  const { status, headers, errors, cause, message } = failure
  if (!errors) return failure
  const renamed = (field: string): string => {
    const found = [...prefixes].find(([prefix]) => field.startsWith(prefix))
    return found ? found[1] + field.slice(found[0].length) : field
  }
  // A message has one sentence per problem, which begins with its field.
  const sentences = message.split('; ').map((sentence) => {
    const problem = errors.find(({ field }) => sentence.startsWith(field))
    return problem ? renamed(problem.field) + sentence.slice(problem.field.length) : sentence
  })
  return new Failure(status, sentences.join('; '), {
    cause,
    headers,
    errors: errors.map((problem) => ({ ...problem, field: renamed(problem.field) })),
  })
}

/** Runs a call whose failures are about a part of the arguments. */
export async function namingArguments<T>(prefixes: ReadonlyMap<string, string>, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (cause) {
    throw cause instanceof Failure ? withArgumentNames(cause, prefixes) : cause
  }
}

type Naming = Pick<AgentTool, 'otherNames'>

/** Takes an argument under the name that it has in the endpoint, where it may be a list of one. */
export function withOwnNames({ otherNames = new Map() }: Naming, args: unknown): unknown {
  if (typeof args !== 'object' || args === null) return args
  let named: Record<string, unknown> = { ...args }
  for (const [other, own] of otherNames) {
    if (!Object.hasOwn(named, other)) continue
    if (Object.hasOwn(named, own)) throw badField(other, `and ${own} are the same argument; give one of them`)
    const { [other]: value, ...rest } = named
    if (Array.isArray(value) && value.length !== 1) throw badField(other, 'must be one aggregate')
    named = { ...rest, [own]: Array.isArray(value) ? value[0] : value }
  }
  return named
}

export const usesOtherName = ({ otherNames = new Map() }: Naming, args: unknown): boolean =>
  typeof args === 'object' && args !== null && [...otherNames.keys()].some((other) => Object.hasOwn(args, other))
