import { useCallback, useMemo, useState } from 'react'

/** Reading is how a person likes to read rows; it is theirs, and no part of what is asked or shared. */
export type RowOptions = { density: Density; detail: DetailPlacement; set(next: { density?: Density; detail?: DetailPlacement }): void }

export const densities = { compact: 'Compact', normal: 'Normal', roomy: 'Roomy' } as const
export type Density = keyof typeof densities

export const detailPlacements = { inline: 'Below its row', beside: 'Beside the list' } as const
export type DetailPlacement = keyof typeof detailPlacements

/** ROW_PX is how high a row of one line is. */
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
