export {
  type ComparedBounds,
  type ComparedKey,
  columnKeys,
  combinedRange,
  NO_NUMBER,
  type Overlap,
  openComparison,
  type PatternCounts,
  type RangeComparison,
  type RangeTotals,
  type RangeValue,
} from './comparison/comparison.ts'
export { countNumbers, type EventNumber, readNumbers, readNumbersInOrder } from './events/event-ids.ts'
export { readNewestOfEach } from './events/newest-per-dataset.ts'
export { readEvents } from './events/read-events.ts'
export { pathsOf } from './fields/field-locations.ts'
export { comparesIds } from './filter/skip-indexes.ts'
export { readPlacedValues } from './patterns/placeholder-values.ts'
export { countFamilies, eventsInFamilies, inSameFamilies } from './plan/pattern-families.ts'
export { openAdmission } from './run/admission.ts'
export { queryBoundsOf, queryLimitsOf } from './run/limits.ts'
export { countEach, countMatching, countWithin } from './statistics/count.ts'
export { countFields } from './statistics/field-counts.ts'
export { findGroups } from './statistics/group-search.ts'
export { readNestedWindows, readWindows } from './statistics/sliding-windows.ts'
export { readStats } from './statistics/statistics.ts'
