import { z } from 'zod'

/** A named member of an object in a schema. */
export type Member = { name: string; schema: z.ZodType }

type Def = { [part: string]: unknown; type: string }
const defOf = (schema: z.ZodType): Def => schema._zod.def as unknown as Def
const isSchema = (value: unknown): value is z.ZodType => typeof value === 'object' && value !== null && '_zod' in value

/** The schemas that a schema consists of: members, items, branches, stages. */
function partsOf(schema: z.ZodType): z.ZodType[] {
  const { type, getter, shape, ...rest } = defOf(schema)
  const parts = [
    ...Object.values(rest),
    ...Object.values((shape ?? {}) as object),
    ...(type === 'lazy' ? [(getter as () => unknown)()] : []),
  ]
  return parts.flatMap((part) => (Array.isArray(part) ? part : [part])).filter(isSchema)
}

/** Every object in a schema at any depth, each once. */
export function objectsIn(schema: z.ZodType, seen = new Set<z.ZodType>()): z.ZodObject[] {
  if (seen.has(schema)) return []
  seen.add(schema)
  const inner = partsOf(schema).flatMap((part) => objectsIn(part, seen))
  return schema instanceof z.ZodObject ? [schema, ...inner] : inner
}

/** The objects that a value of the schema may itself be. */
export function rootObjectsOf(schema: z.ZodType): z.ZodObject[] {
  if (schema instanceof z.ZodObject) return [schema]
  return ['array', 'record', 'tuple'].includes(defOf(schema).type) ? [] : partsOf(schema).flatMap(rootObjectsOf)
}

/** The members that may be absent and in which null has no meaning of its own. */
export const optionalMembers = (object: z.ZodObject): Member[] =>
  Object.entries(object.shape as Record<string, z.ZodType>)
    .filter(([, schema]) => schema.safeParse(undefined).success && !takesNull(schema))
    .map(([name, schema]) => ({ name, schema }))

/** Reports whether the contract permits null as a value of the schema. */
export function takesNull(schema: z.ZodType): boolean {
  if (!schema.safeParse(null).success) return false
  const shown = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const branches = [shown, ...(shown.anyOf ?? []), ...(shown.oneOf ?? [])]
  const { $schema: _, default: __, description: ___, ...rules } = shown
  return Object.keys(rules).length === 0 || branches.some((branch) => typeof branch === 'object' && branch.type === 'null')
}
