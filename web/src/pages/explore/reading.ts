import { useCallback, useMemo, useState } from 'react'

/** Reading is how a person likes to read rows; it is theirs, and no part of what is asked or shared. */
export type Reading = { density: Density; detail: DetailPlace; set(next: { density?: Density; detail?: DetailPlace }): void }

export const densities = { compact: 'Compact', normal: 'Normal', roomy: 'Roomy' } as const
export type Density = keyof typeof densities

export const detailPlaces = { inline: 'Below its row', beside: 'Beside the list' } as const
export type DetailPlace = keyof typeof detailPlaces

/** ROW_PX is how high a row of one line is. */
export const ROW_PX = { compact: 17, normal: 21, roomy: 29 } as const satisfies Record<Density, number>

const KEY = 'dendro.rows'
type Kept = Pick<Reading, 'density' | 'detail'>

export function useReading(): Reading {
  const [kept, setKept] = useState(readKept)
  const set = useCallback<Reading['set']>(
    (next) =>
      setKept((before) => {
        const after = { ...before, ...next }
        localStorage.setItem(KEY, JSON.stringify(after))
        return after
      }),
    [],
  )
  return useMemo(() => ({ ...kept, set }), [kept, set])
}

function readKept(): Kept {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Record<string, unknown>
    return { density: oneOf(densities, kept.density, 'normal'), detail: oneOf(detailPlaces, kept.detail, 'inline') }
  } catch {
    return { density: 'normal', detail: 'inline' }
  }
}

const oneOf = <N extends string>(known: Record<N, string>, given: unknown, otherwise: N): N =>
  typeof given === 'string' && Object.hasOwn(known, given) ? (given as N) : otherwise
