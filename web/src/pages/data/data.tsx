import { useSearch } from '@tanstack/react-router'
import { DatasetList } from './list.tsx'
import { OneDataset } from './one-dataset.tsx'
import { RetentionRules } from './retention-rules.tsx'

/** DataPage is what is sent here: all datasets, one of them with everything that can be done to it, or for how long events are kept. */
export function DataPage() {
  const { id, keep } = useSearch({ from: '/inside/data' })
  if (id !== undefined) return <OneDataset key={id} id={id} />
  return keep ? <RetentionRules /> : <DatasetList />
}
