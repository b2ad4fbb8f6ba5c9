import { randomUUID } from 'node:crypto'
import { type Contract, contract, type Endpoint, pathNames } from '../../api/src/index.ts'

export type Named = { name: string; endpoint: Endpoint }

/** All endpoints of the contract as a list, for the laws. */
export const endpoints: readonly Named[] = Object.entries(contract as Contract).flatMap(([noun, group]) =>
  Object.entries(group).map(([verb, endpoint]) => ({ name: `${noun}.${verb}`, endpoint })),
)

export type Params = Readonly<Record<string, string>>

/** Puts values into a path. */
export const fill = (path: string, params: Params): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined) throw new Error(`the example for ${path} lacks the path parameter ${name}`)
    return encodeURIComponent(value)
  })

/** A path without the names of its parameters: paths of equal shape collide. */
export const shapeOf = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}')

/** Reports whether a path parameter accepts the form of a value. */
export function takes(endpoint: Endpoint, name: string, value: string): boolean {
  const schema = endpoint.params?.shape[name] as { safeParse(value: unknown): { success: boolean } } | undefined
  return schema ? schema.safeParse(value).success : /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value)
}

/** Fills every parameter with a well-formed value that does not exist. */
export const unknownParams = (endpoint: Endpoint): Params =>
  Object.fromEntries(
    pathNames(endpoint.path).map((name) => [name, takes(endpoint, name, randomUUID()) ? randomUUID() : anyValue(endpoint, name)]),
  )

/** A value for a parameter with an enumeration. */
function anyValue(endpoint: Endpoint, name: string): string {
  const schema = endpoint.params?.shape[name] as { options?: readonly string[] } | undefined
  return schema?.options?.[0] ?? 'USER'
}

/** Replaces every UUID of a value, equal ones with equal ones. */
export function withUuids<T>(value: T, rename: (uuid: string) => string): T {
  const text = JSON.stringify(value)
  return text === undefined ? value : JSON.parse(text.replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi, rename))
}

/** The UUIDs in a value. */
export const uuidsIn = (value: unknown): string[] => (JSON.stringify(value) ?? '').match(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi) ?? []
