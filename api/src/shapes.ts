import { z } from 'zod'

/** JSON Schema 2020-12 as data. */
export type JsonSchema = { [keyword: string]: unknown }

type Io = 'input' | 'output'
const isIo = (text: string | undefined): text is Io => text === 'input' || text === 'output'

/**
 * Collects the named schemas of all endpoints. A schema whose input differs from its output (defaults make members optional) gets the name
 * `<Name>Input` for input. That is known only when everything is collected, so references get their final names at the end.
 */
export class Shapes {
  readonly #known: Record<Io, Map<string, JsonSchema>> = { input: new Map(), output: new Map() }

  /** Returns the schema of one part of an endpoint. Its references get their final names in settle. */
  add(schema: z.ZodType, io: Io): JsonSchema {
    const shown = withSplitTypes(z.toJSONSchema(schema, { io, unrepresentable: 'any', override: plainly }) as JsonSchema)
    const { $schema: _, $defs, ...root } = shown
    for (const [name, shape] of Object.entries(($defs ?? {}) as Record<string, JsonSchema>)) this.#keep(name, shape, io)
    return marked(root, io)
  }

  #keep(name: string, shape: JsonSchema, io: Io): void {
    const known = this.#known[io].get(name)
    if (known && JSON.stringify(known) !== JSON.stringify(shape)) throw new Error(`two different schemas of the contract are named ${name}`)
    this.#known[io].set(name, shape)
  }

  /** Gives every reference returned by `add` its final name. Call it when all schemas are added. */
  settle<T>(document: T): T {
    return mapRefs(document, (ref) => {
      const [io, name] = ref.split(':')
      return name !== undefined && isIo(io) ? `${COMPONENTS}${this.#nameOf(io, name)}` : ref
    })
  }

  /** Every named schema under its final name, sorted by name. */
  all(): Record<string, JsonSchema> {
    const named = (['output', 'input'] as const).flatMap((io) =>
      [...this.#known[io]].map(([name, shape]): [string, JsonSchema] => [this.#nameOf(io, name), this.settle(marked(shape, io))]),
    )
    const sorted = named.sort(([a], [b]) => (a < b ? -1 : 1))
    const twice = sorted.find(([name, shape], at) => name === sorted[at - 1]?.[0] && !isDeepEqual(shape, sorted[at - 1]?.[1]))
    if (twice) throw new Error(`two different schemas of the contract are named ${twice[0]}`)
    return Object.fromEntries(sorted)
  }

  #nameOf(io: Io, name: string): string {
    return io === 'input' && this.#different().has(name) ? `${name}Input` : name
  }

  /** The names of schemas that differ between input and output, directly or through a reference. */
  #different(): Set<string> {
    const both = [...this.#known.input.keys()].filter((name) => this.#known.output.has(name))
    const split = new Set(
      both.filter((name) => JSON.stringify(this.#known.input.get(name)) !== JSON.stringify(this.#known.output.get(name))),
    )
    for (let before = -1; before !== split.size; ) {
      before = split.size
      for (const name of both) if (refsOf(this.#known.input.get(name)).some((inner) => split.has(inner))) split.add(name)
    }
    return split
  }
}

const isDeepEqual = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

const DEFS = '#/$defs/'
const COMPONENTS = '#/components/schemas/'

/** Notes in every reference whether it belongs to input or output, until the names are final. */
const marked = (schema: JsonSchema, io: Io): JsonSchema =>
  mapRefs(schema, (ref) => {
    if (!ref.startsWith(DEFS) || ref.startsWith(`${DEFS}__`)) throw new Error('a schema that contains itself needs a name: .meta({ id })')
    return `${io}:${ref.slice(DEFS.length)}`
  })

/** The name that a final reference points to. */
export const shapeName = (schema: JsonSchema): string | undefined =>
  typeof schema.$ref === 'string' && schema.$ref.startsWith(COMPONENTS) ? schema.$ref.slice(COMPONENTS.length) : undefined

/** Follows references. Keywords next to a reference are added to its target. */
export function resolveShape(schema: JsonSchema, schemas: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const name = shapeName(schema)
  if (name === undefined) return schema
  const { $ref: _, ...siblings } = schema
  return { ...resolveShape(schemas[name] ?? {}, schemas), ...siblings }
}

/** propertiesOf and requiredOf read an object's schema, branchesOf the alternatives of a union. */
export const propertiesOf = (schema: JsonSchema): [string, JsonSchema][] =>
  Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
export const requiredOf = (schema: JsonSchema): readonly string[] => (schema.required ?? []) as string[]
export const branchesOf = (schema: JsonSchema): JsonSchema[] => (schema.anyOf ?? schema.oneOf ?? []) as JsonSchema[]

/** Copies a value with all references renamed. */
function mapRefs<T>(value: T, rename: (ref: string) => string): T {
  if (Array.isArray(value)) return value.map((item) => mapRefs(item, rename)) as T
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    key === '$ref' && typeof inner === 'string' ? rename(inner) : mapRefs(inner, rename),
  ])
  return Object.fromEntries(entries) as T
}

function refsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' && inner.startsWith(DEFS) ? [inner.slice(DEFS.length)] : refsOf(inner),
  )
}

/** The largest 32-bit integer. Integers that may be larger have the format int64. */
const INT32_MAX = 2 ** 31 - 1

/** Drops details that only our validation needs: patterns next to formats, and closed objects in responses. */
function plainly({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const def = zodSchema._zod.def
  // Examples show the input. They are lost when a schema transforms its input.
  const examples = z.globalRegistry.get(zodSchema)?.examples
  if (examples) jsonSchema.examples = examples as unknown[]
  if (def.type === 'object' && def.catchall === undefined) delete jsonSchema.additionalProperties
  // The upper bound of 64 bits is not exact in JavaScript, so only the format states it.
  if (def.type === 'bigint') Object.assign(jsonSchema, { type: 'integer', format: 'int64', minimum: 0 })
  dropNulPattern(jsonSchema)
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern
  if (jsonSchema.type === 'integer' && typeof jsonSchema.maximum === 'number' && jsonSchema.maximum > INT32_MAX) jsonSchema.format = 'int64'
}

const NUL_PATTERN = '^[^\\0]*$'

/** Drops the pattern that every text has; one that is left stands in the schema itself. */
function dropNulPattern(jsonSchema: z.core.JSONSchema.BaseSchema): void {
  if (jsonSchema.pattern === NUL_PATTERN) delete jsonSchema.pattern
  if (!jsonSchema.allOf?.some(({ pattern }) => pattern === NUL_PATTERN)) return
  const others = jsonSchema.allOf.filter(({ pattern }) => pattern !== NUL_PATTERN)
  delete jsonSchema.allOf
  if (others.length === 1) Object.assign(jsonSchema, others[0])
  else if (others.length > 1) jsonSchema.allOf = others
}

/** Writes several types as alternatives: generators of clients know a list of types only as one type and null. */
function withSplitTypes<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withSplitTypes) as T
  if (typeof value !== 'object' || value === null) return value
  const { type, ...rest } = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withSplitTypes(inner)]))
  const isList = Array.isArray(type) && type.filter((one) => one !== 'null').length > 1
  return (isList ? { ...rest, anyOf: type.map((one) => ({ type: one })) } : { ...(type === undefined ? {} : { type }), ...rest }) as T
}
