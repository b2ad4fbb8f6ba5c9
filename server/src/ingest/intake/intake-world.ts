import type { PeriodChoice } from '../../lines/layout/periods.ts'
import type { LimitMeter } from '../../resources/data/limits/limits.ts'
import type { ParsedLines } from '../../resources/data/parsers/parsers.ts'
import type { World } from '../../world.ts'

/** The part of the world that the intake needs, and its callbacks. */
export type IntakeWorld = Pick<World, 'addressFiles' | 'clock' | 'ids' | 'ledger' | 'log' | 'meta' | 'writer'> & {
  /** Reports a dataset that received events. */
  beat(logId: string, nowMs: number): void
  /** Reports the counts of a dataset's parser. */
  parsed(parsed: ParsedLines, nowMs: number): void
  /** Chooses how the rows of a dataset are sorted. */
  periods: PeriodChoice
  limits: Pick<LimitMeter, 'checkOpen' | 'admit'>
}
