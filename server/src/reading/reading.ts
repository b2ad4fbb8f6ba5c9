export { readEvents } from './events/read-events.ts'
export { countFamilies, eventsInFamilies, inSameFamilies } from './plan/pattern-families.ts'
export { countEach, countMatching, countWithin } from './statistics/count.ts'
export { readStats } from './statistics/statistics.ts'
