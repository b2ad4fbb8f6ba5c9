import type { Db } from '../../../meta/meta.ts'
import {
  deleteMetricDefinition,
  insertMetricDefinition,
  lockMetricDefinition,
  type MetricDefinitionRow,
  updateMetricDefinitionRow,
} from './rows.ts'

/** Writes the definition that holds the queries of another record; creates it again if it was deleted. */
export async function storeBacking(tx: Db, row: MetricDefinitionRow): Promise<void> {
  const kept = await lockMetricDefinition(tx, row.org_id, row.id)
  if (kept) await updateMetricDefinitionRow(tx, { ...row, created_at: kept.created_at, created_by: kept.created_by })
  else await insertMetricDefinition(tx, row)
}

export async function dropBacking(tx: Db, orgId: string, id: string): Promise<void> {
  await deleteMetricDefinition(tx, orgId, id)
}
