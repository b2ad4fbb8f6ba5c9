import { useKnownFields } from '../../../parts/fields.ts'
import type { ExploreQuery } from '../query/explore-query.ts'

/** useFields loads the fields of the datasets in the range, with their most frequent values. */
export const useFields = ({ datasets, range, refreshCount }: ExploreQuery, isOn: boolean) =>
  useKnownFields({ datasets, range, refreshCount: refreshCount }, isOn)
