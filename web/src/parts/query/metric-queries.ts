import type { MetricQuery } from '@dendro/api'

export const EVERYTHING = '*'

/** Counts all events. */
export const newQuery = (name: string, more: Partial<MetricQuery> = {}): MetricQuery => ({
  name,
  select: ['count(*)'],
  from_expr: EVERYTHING,
  where: '',
  ...more,
})

/** tidied are queries ready to send: trimmed, without empty groups. */
export const tidied = (queries: readonly MetricQuery[]): MetricQuery[] =>
  queries.map(({ groups, id: _id, ...query }) => {
    const keys = (groups ?? []).map((key) => key.trim()).filter((key) => key !== '')
    const selector = query.from_expr === undefined ? {} : { from_expr: query.from_expr.trim() }
    return { ...query, ...selector, where: query.where.trim(), ...(keys.length > 0 ? { groups: keys } : {}) }
  })

/** Describes queries in one line; measures of the same events share their description. */
export const measureText = (queries: readonly Pick<MetricQuery, 'select' | 'where' | 'groups'>[]): string =>
  [...Map.groupBy(queries, ({ where, groups = [] }) => JSON.stringify([where, groups])).values()]
    .map((same) => {
      const { where = '', groups = [] } = same[0] ?? {}
      const measures = same.map(({ select }) => select[0] ?? '').join(', ')
      return [measures, where === '' ? '' : `of ${where}`, groups.length === 0 ? '' : `by ${groups.join(', ')}`]
        .filter((text) => text !== '')
        .join(' ')
    })
    .join('; ')
