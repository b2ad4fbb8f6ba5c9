import { type AskedRange, readAskedRange } from '../../parts/asked-range.ts'

/** Asked is what of the page stands in the address: the list, a dashboard over a range, a widget that is written, a template that is used. */
export type Asked = AskedRange & { id?: string; widget?: string; template?: string }

const words = ['id', 'widget', 'template'] as const

export function readAsked(search: Record<string, unknown>): Asked {
  const asked: Asked = readAskedRange(search)
  for (const name of words) {
    const value = search[name]
    if (typeof value === 'string' && value !== '') asked[name] = value
  }
  return asked
}
