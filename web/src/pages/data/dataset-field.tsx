import type { Dataset } from '@dendro/api'
import { useMemo } from 'react'
import { useDatasets } from '../../parts/datasets/datasets.ts'
import { FormField } from '../../parts/records/form.tsx'
import { Select } from '../../ui/field.tsx'

/** Selects the one dataset that events go to. The service alone writes its own datasets. */
export function DatasetField({ value, help, onPick }: { value: string; help?: string; onPick(id: string): void }) {
  const { data } = useDatasets()
  const options = useMemo(() => optionsOf(data?.datasets ?? []), [data])
  return (
    <FormField name="Dataset" of="log_id" {...(help === undefined ? {} : { help })}>
      <Select value={value} options={options} onPick={onPick} />
    </FormField>
  )
}

function optionsOf(datasets: readonly Dataset[]): readonly (readonly [string, string])[] {
  const named = datasets
    .filter(({ is_system_generated }) => !is_system_generated)
    .map(({ id, collection, dataset }) => [id, `${collection} / ${dataset}`] as const)
  return [['', 'Select a dataset'], ...named.toSorted(([, one], [, other]) => one.localeCompare(other))]
}
