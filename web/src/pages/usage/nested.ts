import type { Series, UsageSeries } from '@dendro/api'

/** nestedOf are the groups of usage, the largest first. */
export const nestedOf = ({ groups_series }: Pick<UsageSeries, 'groups_series'>): Series[] =>
  groups_series.toSorted((a, b) => b.value - a.value)

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
