import { randomUUID } from 'node:crypto'
import { type Contract, contract, type Endpoint, pathNames } from '../../api/src/index.ts'

export type Named = { name: string; endpoint: Endpoint }

const all: readonly Named[] = Object.entries(contract as Contract).flatMap(([noun, group]) =>
  Object.entries(group).map(([verb, endpoint]) => ({ name: `${noun}.${verb}`, endpoint })),
)

/** endpoints is all of the contract that does something, as a list: what the laws go through. */
export const endpoints = all.filter(({ endpoint }) => endpoint.absent === undefined)
/** absentEndpoints only say that they are not there. */
export const absentEndpoints = all.filter(({ endpoint }) => endpoint.absent !== undefined)

export type Params = Readonly<Record<string, string>>

/** fill puts values into a path. */
export const fill = (path: string, params: Params): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined) throw new Error(`the example for ${path} lacks the path parameter ${name}`)
    return encodeURIComponent(value)
  })

/** shapeOf is a path without the names of its parameters: two paths of one shape are one place. */
export const shapeOf = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}')

/** takes reports whether a path parameter accepts a value by its form. */
export function takes(endpoint: Endpoint, name: string, value: string): boolean {
  const schema = endpoint.params?.shape[name] as { safeParse(value: unknown): { success: boolean } } | undefined
  return schema ? schema.safeParse(value).success : /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value)
}

/** unknownParams fills every parameter with something well-formed that does not exist. */
export const unknownParams = (endpoint: Endpoint): Params =>
  Object.fromEntries(
    pathNames(endpoint.path).map((name) => [name, takes(endpoint, name, randomUUID()) ? randomUUID() : anyValue(endpoint, name)]),
  )

/** anyValue is a value of a parameter that is one of a few words. */
function anyValue(endpoint: Endpoint, name: string): string {
  const schema = endpoint.params?.shape[name] as { options?: readonly string[] } | undefined
  return schema?.options?.[0] ?? 'USER'
}

/** withUuids writes every UUID of a value anew, the same one always the same. */
export function withUuids<T>(value: T, rename: (uuid: string) => string): T {
  const text = JSON.stringify(value)
  return text === undefined ? value : JSON.parse(text.replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi, rename))
}

/** uuidsIn lists the UUIDs in a value. */
export const uuidsIn = (value: unknown): string[] => (JSON.stringify(value) ?? '').match(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi) ?? []
