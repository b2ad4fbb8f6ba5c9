import { useSearch } from '@tanstack/react-router'
import { DatasetList } from './list.tsx'
import { OneDataset } from './one-dataset.tsx'
import { RetentionRules } from './retention-rules.tsx'

/** Shows the datasets, one dataset, or the retention rules. */
export function DataPage() {
  const { id, keep } = useSearch({ from: '/inside/data' })
  if (id !== undefined) return <OneDataset key={id} id={id} />
  return keep ? <RetentionRules /> : <DatasetList />
}
