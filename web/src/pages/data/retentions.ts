import type { Retention } from '@dendro/api'

const days: Record<Retention, number> = { DAYS_30: 30, DAYS_90: 90, DAYS_180: 180, DAYS_365: 365, DAYS_548: 548, DAYS_730: 730 }

const written: Record<Retention, string> = {
  DAYS_30: '30 days',
  DAYS_90: '90 days',
  DAYS_180: '180 days',
  DAYS_365: '1 year',
  DAYS_548: '1.5 years',
  DAYS_730: '2 years',
}

export const daysOf = (retention: Retention): number => days[retention]
export const retentionText = (retention: Retention): string => written[retention]

/** The options of a select, with a label for none. */
export const retentionChoices = (none: string): readonly (readonly [Retention | '', string])[] => [
  ['', none],
  ...(Object.keys(written) as Retention[]).map((one) => [one, written[one]] as const),
]
