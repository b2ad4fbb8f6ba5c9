import { useSearch } from '@tanstack/react-router'
import { Forwarding } from './forwarding/forwarding.tsx'
import { IngestRules } from './ingest-rules/rules-page.tsx'
import { DatasetList } from './list.tsx'
import { OneDataset } from './one-dataset.tsx'
import { Rehydrations } from './rehydrations/rehydration-list.tsx'
import { RetentionRules } from './retention-rules.tsx'
import { Sources } from './sources/source-list.tsx'

/** Shows the datasets, one dataset, or what is decided about all of them: retention, ingest rules, sources, forwarding and rehydration. */
export function DataPage() {
  const { id, keep, rules, forwarding, sources, rehydrations } = useSearch({ from: '/inside/data' })
  if (id !== undefined) return <OneDataset key={id} id={id} />
  if (rules) return <IngestRules />
  if (forwarding) return <Forwarding />
  if (sources) return <Sources />
  if (rehydrations) return <Rehydrations />
  return keep ? <RetentionRules /> : <DatasetList />
}
