import { badField } from '../../../kernel/errors.ts'

type MetricFilter = { readonly metric_ids?: readonly string[] | undefined; readonly per_metric?: number | undefined }

/** The records of a list, newest first, that use any of the wanted metric definitions; all records when none is named. */
export function metricUsers<Row>(
  all: readonly Row[],
  { metric_ids = [], per_metric: max = Number.POSITIVE_INFINITY }: MetricFilter,
  metricsOf: (row: Row) => readonly string[],
): readonly Row[] {
  if (metric_ids.length === 0) {
    if (Number.isFinite(max)) throw badField('per_metric', 'needs metric_ids')
    return all
  }
  const found = new Map(metric_ids.map((id) => [id, 0]))
  return all.filter((row) => {
    const open = metricsOf(row).filter((id) => (found.get(id) ?? max) < max)
    for (const id of open) found.set(id, (found.get(id) ?? 0) + 1)
    return open.length > 0
  })
}
