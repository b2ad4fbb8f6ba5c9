import { DEFAULT_RANGE, type Range } from '../../parts/time-range.ts'

export const tabs = ['events', 'patterns'] as const
export type Tab = (typeof tabs)[number]

/** Asked is the whole state of the page as it stands in the address: what is not the default. Going back undoes the last change, a copied address shows the same. */
export type Asked = {
  /** d are datasets by id; all when absent. */
  d?: string[]
  q?: string
  /** off are clauses that are kept but not asked. */
  off?: string[]
  /** r is a range in words; f and t are moments. */
  r?: string
  f?: number
  t?: number
  tab?: Tab
  cols?: string[]
  live?: boolean
  wrap?: boolean
}

/** readAsked takes an address as it comes; what makes no sense is left out. */
export function readAsked(search: Record<string, unknown>): Asked {
  const { q, r, f, t, tab } = search
  return {
    ...some('d', texts(search.d)),
    ...(typeof q === 'string' && q.trim() !== '' ? { q } : {}),
    ...some('off', texts(search.off)),
    ...(typeof f === 'number' && typeof t === 'number' && t > f ? { f, t } : typeof r === 'string' && r !== '' ? { r } : {}),
    ...(tabs.some((one) => one === tab) ? { tab: tab as Tab } : {}),
    ...some('cols', texts(search.cols)),
    ...(search.live === true ? { live: true } : {}),
    ...(search.wrap === true ? { wrap: true } : {}),
  }
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [])
const some = <N extends 'd' | 'off' | 'cols'>(name: N, list: string[]) =>
  list.length > 0 ? ({ [name]: list } as { [K in N]: string[] }) : {}

export const rangeOf = ({ r, f, t }: Asked): Range =>
  f !== undefined && t !== undefined ? { fromMs: f, toMs: t } : r === undefined ? DEFAULT_RANGE : { words: r }

export const withRange = (asked: Asked, range: Range): Asked => {
  const { r: _r, f: _f, t: _t, ...rest } = asked
  return 'words' in range ? { ...rest, r: range.words } : { ...rest, f: range.fromMs, t: range.toMs }
}
