import type { Series, UsageSeries } from '@dendro/api'

/** nestedOf are the groups of usage, the largest first. */
export const nestedOf = ({ groups_series }: Pick<UsageSeries, 'groups_series'>): Series[] =>
  groups_series.toSorted((a, b) => b.value - a.value)

/** LOGS_MAX and SEARCHED_MAX are of how many datasets, the largest, the service is asked what they used, and what was searched in them. */
export const LOGS_MAX = 200
export const SEARCHED_MAX = 100

/** isCut says that as many datasets were told of as were asked for, so that there may be more. */
export function isCut(usage: Pick<UsageSeries, 'groups_series'> | undefined, datasetsMax: number): boolean {
  const groups = usage?.groups_series ?? []
  const searched = new Set(groups.flatMap((one) => withinOf(one).map(({ name }) => name)))
  return Math.max(searched.size, groups.every(({ key }) => key === 'log_id') ? groups.length : 0) >= datasetsMax
}

/** A Before is what a dataset or user used in the period before, where that is known. */
export type Before = (name: string) => number | undefined

/** beforeOf takes what is not told of for nothing, unless only the largest were told of. */
export function beforeOf(earlier: Pick<UsageSeries, 'groups_series'>, datasetsMax: number): Before {
  const byName = new Map(earlier.groups_series.map(({ name, value }) => [name, value]))
  const absent = isCut(earlier, datasetsMax) ? undefined : 0
  return (name) => byName.get(name) ?? absent
}

/** withinOf are the groups within a group, which its type does not say. */
const withinOf = ({ groups_series = [] }: Series): Series[] => groups_series as unknown as Series[]

/** datasetsOf is what one user searched, by dataset. */
export const datasetsOf = (users: Pick<UsageSeries, 'groups_series'>, user: string): Series[] =>
  users.groups_series.filter(({ name }) => name === user).flatMap((one) => nestedOf({ groups_series: withinOf(one) }))

/** usersOf are those who searched one dataset, under their own names; without a dataset all of them. */
export function usersOf(users: Pick<UsageSeries, 'groups_series'>, dataset: string | undefined): Series[] {
  if (dataset === undefined) return nestedOf(users)
  const found = users.groups_series.flatMap((one) => {
    const own = withinOf(one).find(({ name }) => name === dataset)
    return own ? [{ ...own, ...(one.key === undefined ? {} : { key: one.key }), name: one.name }] : []
  })
  return nestedOf({ groups_series: found })
}

/** usageCsv has a row for every slice and a column for every series. */
export function usageCsv(times: readonly number[], series: readonly { name: string; values: readonly (number | null)[] }[]): string {
  const cell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  const rows = times.map((ms, at) => [new Date(ms).toISOString(), ...series.map(({ values }) => String(values[at] ?? ''))])
  return [['time', ...series.map(({ name }) => name)], ...rows].map((row) => row.map(cell).join(',')).join('\r\n')
}
