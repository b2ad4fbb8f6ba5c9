import type { Series, UsageSeries } from '@dendro/api'

/** Sorts the groups of usage, largest first. */
export const nestedOf = ({ groups_series }: Pick<UsageSeries, 'groups_series'>): Series[] =>
  groups_series.toSorted((a, b) => b.value - a.value)

/** LOGS_MAX and SEARCHED_MAX limit how many datasets the usage queries return. */
export const LOGS_MAX = 200
export const SEARCHED_MAX = 100

/** True when the limit was reached, so that there may be more datasets. */
export function isCut(usage: Pick<UsageSeries, 'groups_series'> | undefined, datasetsMax: number): boolean {
  const groups = usage?.groups_series ?? []
  const searched = new Set(groups.flatMap((one) => innerGroups(one).map(({ name }) => name)))
  return Math.max(searched.size, groups.every(({ key }) => key === 'log_id') ? groups.length : 0) >= datasetsMax
}

/** A Before looks up the usage of the previous period, if known. */
export type UsageBefore = (name: string) => number | undefined

/** beforeOf treats missing names as zero, unless the list was cut. */
export function beforeOf(earlier: Pick<UsageSeries, 'groups_series'>, datasetsMax: number): UsageBefore {
  const byName = new Map(earlier.groups_series.map(({ name, value }) => [name, value]))
  const absent = isCut(earlier, datasetsMax) ? undefined : 0
  return (name) => byName.get(name) ?? absent
}

/** withinOf are the nested groups, which the API type does not declare. */
const innerGroups = ({ groups_series = [] }: Series): Series[] => groups_series as unknown as Series[]

/** The search volume of one user by dataset. */
export const datasetsOf = (users: Pick<UsageSeries, 'groups_series'>, user: string): Series[] =>
  users.groups_series.filter(({ name }) => name === user).flatMap((one) => nestedOf({ groups_series: innerGroups(one) }))

/** The search volume by user, of one dataset or all. */
export function usersOf(users: Pick<UsageSeries, 'groups_series'>, dataset: string | undefined): Series[] {
  if (dataset === undefined) return nestedOf(users)
  const found = users.groups_series.flatMap((one) => {
    const own = innerGroups(one).find(({ name }) => name === dataset)
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
