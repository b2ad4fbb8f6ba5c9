import { z } from 'zod'

/** A Schema is JSON Schema 2020-12 as data. */
export type Schema = { [keyword: string]: unknown }

type Io = 'input' | 'output'
const isIo = (text: string | undefined): text is Io => text === 'input' || text === 'output'

/**
 * Shapes collects the named shapes of all schemas. A shape that looks different going in (defaults make members optional) from
 * coming out gets the name `<Name>Input` there; only when everything is collected is that known, so references are settled last.
 */
export class Shapes {
  readonly #known: Record<Io, Map<string, Schema>> = { input: new Map(), output: new Map() }

  /** add gives back the schema of one part of an endpoint; its references get their final names in settle. */
  add(schema: z.ZodType, io: Io): Schema {
    const { $schema: _, $defs, ...root } = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: plainly }) as Schema
    for (const [name, shape] of Object.entries(($defs ?? {}) as Record<string, Schema>)) this.#keep(name, shape, io)
    return marked(root, io)
  }

  #keep(name: string, shape: Schema, io: Io): void {
    const known = this.#known[io].get(name)
    if (known && JSON.stringify(known) !== JSON.stringify(shape)) throw new Error(`two different shapes of the contract are called ${name}`)
    this.#known[io].set(name, shape)
  }

  /** settle gives every reference that `add` handed out its final name; call it when all schemas are added. */
  settle<T>(document: T): T {
    return mapRefs(document, (ref) => {
      const [io, name] = ref.split(':')
      return name !== undefined && isIo(io) ? `${COMPONENTS}${this.#nameOf(io, name)}` : ref
    })
  }

  /** all is every named shape under its final name, in order of names. */
  all(): Record<string, Schema> {
    const named = (['output', 'input'] as const).flatMap((io) =>
      [...this.#known[io]].map(([name, shape]): [string, Schema] => [this.#nameOf(io, name), this.settle(marked(shape, io))]),
    )
    return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  #nameOf(io: Io, name: string): string {
    return io === 'input' && this.#different().has(name) ? `${name}Input` : name
  }

  /** #different names the shapes that differ between input and output, themselves or through what they refer to. */
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

const DEFS = '#/$defs/'
const COMPONENTS = '#/components/schemas/'

/** marked notes in every reference on which side it stands, until names are settled. */
const marked = (schema: Schema, io: Io): Schema =>
  mapRefs(schema, (ref) => {
    if (!ref.startsWith(DEFS) || ref.startsWith(`${DEFS}__`)) throw new Error('a shape that contains itself needs a name: .meta({ id })')
    return `${io}:${ref.slice(DEFS.length)}`
  })

/** shapeName is the name that a settled reference leads to. */
export const shapeName = (schema: Schema): string | undefined =>
  typeof schema.$ref === 'string' && schema.$ref.startsWith(COMPONENTS) ? schema.$ref.slice(COMPONENTS.length) : undefined

/** resolveShape follows references; keywords beside a reference add to what it leads to. */
export function resolveShape(schema: Schema, schemas: Readonly<Record<string, Schema>>): Schema {
  const name = shapeName(schema)
  if (name === undefined) return schema
  const { $ref: _, ...siblings } = schema
  return { ...resolveShape(schemas[name] ?? {}, schemas), ...siblings }
}

/** propertiesOf and requiredOf read the members of an object's schema; branchesOf the alternatives of a choice. */
export const propertiesOf = (schema: Schema): [string, Schema][] => Object.entries((schema.properties ?? {}) as Record<string, Schema>)
export const requiredOf = (schema: Schema): readonly string[] => (schema.required ?? []) as string[]
export const branchesOf = (schema: Schema): Schema[] => (schema.anyOf ?? schema.oneOf ?? []) as Schema[]

/** mapRefs copies a value with every reference in it renamed. */
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

/** INT32_MAX is the largest number of 32 bits; integers that may be larger carry the format int64. */
const INT32_MAX = 2 ** 31 - 1

/** plainly drops what only a validator of our own needs: patterns behind formats, closedness of replies. */
function plainly({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const def = zodSchema._zod.def
  // Examples are of what goes in, and are lost where a schema changes its input.
  const examples = z.globalRegistry.get(zodSchema)?.examples
  if (examples) jsonSchema.examples = examples as unknown[]
  if (def.type === 'object' && def.catchall === undefined) delete jsonSchema.additionalProperties
  // The upper bound of 64 bits has no exact number in JavaScript; the format states it.
  if (def.type === 'bigint') Object.assign(jsonSchema, { type: 'integer', format: 'int64', minimum: 0 })
  if (jsonSchema.format !== undefined || jsonSchema.pattern === '^[^\\0]*$') delete jsonSchema.pattern
  if (jsonSchema.type === 'integer' && typeof jsonSchema.maximum === 'number' && jsonSchema.maximum > INT32_MAX) jsonSchema.format = 'int64'
}
