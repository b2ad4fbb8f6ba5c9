import { badRequest, Failure } from '../kernel/errors.ts'

/** Parses several fields and reports the errors of all of them at once. */
export function parseAll<T extends object>(parsers: { [Name in keyof T]: () => T[Name] }): T {
  const failures: Failure[] = []
  const entries = Object.entries(parsers as Record<string, () => unknown>).map(([name, parse]) => {
    try {
      return [name, parse()]
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.status !== 400) throw thrown
      failures.push(thrown)
      return [name, undefined]
    }
  })
  const [first] = failures
  if (!first) return Object.fromEntries(entries) as T
  if (failures.length === 1) throw first
  throw badRequest(failures.map(({ message }) => message).join('; '), { errors: failures.flatMap(({ errors }) => errors ?? []) })
}
