import { useCallback, useMemo, useState } from 'react'

/** RowOptions are display preferences, stored in the browser and not part of a shared link. */
export type RowOptions = { density: Density; detail: DetailPlacement; set(next: { density?: Density; detail?: DetailPlacement }): void }

export const densities = { compact: 'Compact', normal: 'Normal', roomy: 'Comfortable' } as const
export type Density = keyof typeof densities

export const detailPlacements = { inline: 'Below the row', beside: 'Side panel' } as const
export type DetailPlacement = keyof typeof detailPlacements

/** The height of a row of one line. */
export const ROW_PX = { compact: 17, normal: 21, roomy: 29 } as const satisfies Record<Density, number>

const KEY = 'dendro.rows'
type StoredRowOptions = Pick<RowOptions, 'density' | 'detail'>

export function useRowOptions(): RowOptions {
  const [stored, setStored] = useState(readStored)
  const set = useCallback<RowOptions['set']>(
    (next) =>
      setStored((before) => {
        const after = { ...before, ...next }
        localStorage.setItem(KEY, JSON.stringify(after))
        return after
      }),
    [],
  )
  return useMemo(() => ({ ...stored, set }), [stored, set])
}

function readStored(): StoredRowOptions {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Record<string, unknown>
    return { density: oneOf(densities, stored.density, 'normal'), detail: oneOf(detailPlacements, stored.detail, 'inline') }
  } catch {
    return { density: 'normal', detail: 'inline' }
  }
}

const oneOf = <N extends string>(known: Record<N, string>, value: unknown, fallback: N): N =>
  typeof value === 'string' && Object.hasOwn(known, value) ? (value as N) : fallback
