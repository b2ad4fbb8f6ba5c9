import { useCallback, useMemo, useState } from 'react'
import type { ExploreParams } from '../../explore-params.ts'

/** The fields shown as columns; none means whole lines. Widths are in pixels, of the resized columns only. */
export type Columns = {
  names: readonly string[]
  widths: Readonly<Record<string, number>>
  add(name: string): void
  remove(name: string): void
  /** Puts a column in the place of another. */
  move(name: string, to: string): void
  resize(name: string, px: number): void
  reset(): void
}

type StoredColumns = { names: string[]; widths: Record<string, number> }

const KEY = 'dendro.columns'
const SETS_MAX = 100
export const COLUMN_PX_MIN = 48
const COLUMN_PX_MAX = 1_200

/** Reads the columns from the URL, or else those last used with the same datasets. */
export function useColumns(params: ExploreParams, change: (by: (now: ExploreParams) => ExploreParams) => void): Columns {
  const datasetsKey = useMemo(() => datasetsKeyOf(params.d), [params.d])
  const [revision, setRevision] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the revision changes with the stored columns
  const stored = useMemo(() => readColumns(datasetsKey), [datasetsKey, revision])
  const names = params.cols ?? stored?.names ?? NONE
  const widths = stored?.widths ?? NO_WIDTHS
  const store = useCallback(
    (next: StoredColumns | undefined) => {
      storeColumns(datasetsKey, next)
      setRevision((before) => before + 1)
    },
    [datasetsKey],
  )
  const show = useCallback(
    (next: string[]) => {
      store(next.length === 0 ? undefined : { names: next, widths: { ...widths } })
      change(({ cols: _, ...now }) => (next.length === 0 ? now : { ...now, cols: next }))
    },
    [store, change, widths],
  )
  return useMemo(
    () => ({
      names,
      widths,
      add: (name) => show([...names.filter((one) => one !== name), name]),
      remove: (name) => show(names.filter((one) => one !== name)),
      move: (name, to) => show(moved(names, name, to)),
      resize: (name, px) =>
        store({ names: [...names], widths: { ...widths, [name]: Math.round(Math.min(COLUMN_PX_MAX, Math.max(COLUMN_PX_MIN, px))) } }),
      reset: () => show([]),
    }),
    [names, widths, show, store],
  )
}

const NONE: readonly string[] = []
const NO_WIDTHS: Readonly<Record<string, number>> = Object.freeze({})

/** widthIn looks up a width; `hasOwn`, since a column name may be any text. */
export const widthIn = (widths: Readonly<Record<string, number>>, name: string): number | undefined =>
  Object.hasOwn(widths, name) ? widths[name] : undefined

export function moved(names: readonly string[], name: string, to: string): string[] {
  const [from, at] = [names.indexOf(name), names.indexOf(to)]
  if (from < 0 || at < 0) return [...names]
  const rest = names.filter((one) => one !== name)
  return [...rest.slice(0, at), name, ...rest.slice(at)]
}

const datasetsKeyOf = (datasets: readonly string[] | undefined): string => (datasets === undefined ? '*' : [...datasets].sort().join(' '))

function readAll(): Map<string, StoredColumns> {
  try {
    return new Map(JSON.parse(localStorage.getItem(KEY) ?? '[]') as [string, StoredColumns][])
  } catch {
    return new Map()
  }
}

const readColumns = (datasetsKey: string): StoredColumns | undefined => readAll().get(datasetsKey)

function storeColumns(datasetsKey: string, columns: StoredColumns | undefined): void {
  const all = readAll()
  all.delete(datasetsKey)
  if (columns) all.set(datasetsKey, columns)
  localStorage.setItem(KEY, JSON.stringify([...all].slice(-SETS_MAX)))
}
