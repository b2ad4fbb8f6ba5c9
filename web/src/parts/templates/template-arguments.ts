import type { Template } from '@dendro/api'

type Argument = NonNullable<Template['arguments']>[string]
type ParameterType = 'STRING' | 'STRING_LIST' | 'DOUBLE' | 'BOOLEAN' | 'OBJECT_LIST'

/** Converts typed text to an argument; an invalid JSON list is left for the service to reject. */
export function argumentOf(type: ParameterType, typed: string): Argument {
  if (type === 'STRING_LIST') {
    const items = typed.split(',').map((item) => item.trim())
    return { literal: items.filter((item) => item !== '') }
  }
  if (type !== 'OBJECT_LIST') return { literal: typed.trim() }
  try {
    const list: unknown = JSON.parse(typed)
    return { literal: Array.isArray(list) ? list : typed }
  } catch {
    return { literal: typed }
  }
}
