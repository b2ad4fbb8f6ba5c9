import { DAY_MS } from './collect.ts'
import type { InsightFinding } from './finding.ts'
import type { InsightRow } from './rows.ts'

/** What happened and is over stays for a day, so that people see in the morning what happened at night. A state ends with its cause. */
const KEPT_AFTER_MS: ReadonlyMap<InsightFinding['name'], number> = new Map([
  ['volume_jumped', DAY_MS],
  ['errors_jumped', DAY_MS],
  ['cost_jumped', DAY_MS],
  ['new_patterns', DAY_MS],
])
/** A finding whose beginning moves by the hour keeps its first beginning. */
export type Reconciled = { readonly written: readonly InsightRow[]; readonly ended: readonly InsightRow[] }

type Evaluation = {
  readonly orgId: string
  readonly atMs: number
  readonly nowMs: number
  readonly newId: () => string
  /** The names that were evaluated. Insights of other names stay as they are. */
  readonly names: ReadonlySet<InsightFinding['name']>
}

/** Compares what was found with the insights that exist. An insight that goes on stays the same record. */
export function reconcile(
  known: readonly InsightRow[],
  findings: readonly InsightFinding[],
  { orgId, atMs, nowMs, newId, names }: Evaluation,
): Reconciled {
  const bySubject = new Map(known.map((row) => [keyOf(row), row]))
  const found = new Set(findings.map(keyOf))
  const written = findings.map(({ entityType, entityId, sinceMs, ...finding }): InsightRow => {
    const before = bySubject.get(keyOf(finding))
    const isSame = before !== undefined && before.evidence === finding.evidence && before.confidence === finding.confidence
    return {
      org_id: orgId,
      id: before?.id ?? newId(),
      ...finding,
      entity_type: entityType,
      entity_id: entityId,
      since_ms: Math.min(sinceMs, before?.since_ms ?? sinceMs),
      seen_ms: atMs,
      modified_at: isSame ? before.modified_at : nowMs,
    }
  })
  const ended = known.filter(
    (row) => names.has(row.name) && !found.has(keyOf(row)) && atMs - row.seen_ms >= (KEPT_AFTER_MS.get(row.name) ?? 0),
  )
  return { written, ended }
}

const keyOf = ({ name, subject }: Pick<InsightRow, 'name' | 'subject'>): string => `${name} ${subject}`
