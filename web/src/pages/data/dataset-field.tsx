import { useState } from 'react'
import { fullName, useDatasetSearch, useDatasetsById } from '../../parts/datasets/datasets.ts'
import { FormField } from '../../parts/records/form.tsx'
import { SearchSelect } from '../../parts/records/search-select.tsx'
import { Select } from '../../ui/field.tsx'

const NOTHING = ['', 'Select a dataset'] as const

/** Selects the one dataset that events go to. The service alone writes its own datasets. */
export function DatasetField({ value, help, onPick }: { value: string; help?: string; onPick(id: string): void }) {
  const [find, setFind] = useState('')
  const found = useDatasetSearch(find, 'own')
  const { nameOf } = useDatasetsById(value === '' ? [] : [value])
  const options = found.records.map((dataset) => [dataset.id, fullName(dataset)] as const)
  return (
    <FormField name="Dataset" of="log_id" {...(help === undefined ? {} : { help })}>
      {found.data && !found.isWhole ? (
        <SearchSelect
          name="Dataset"
          noun="dataset"
          selected={value === '' ? NOTHING[1] : nameOf(value, fullName)}
          options={options}
          of={found}
          find={find}
          onFind={setFind}
          onPick={onPick}
        />
      ) : (
        <Select value={value} options={[NOTHING, ...options]} onPick={onPick} />
      )}
    </FormField>
  )
}
