import { Failure } from '../kernel/errors.ts'

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
