import type { LimitMeter } from '../../resources/data/limits/limits.ts'
import type { ParsedLines } from '../../resources/data/parsers/parsers.ts'
import type { World } from '../../world.ts'

/** An IntakeWorld is what the intake takes of the world, and whom it tells of what it did. */
export type IntakeWorld = Pick<World, 'clock' | 'ids' | 'ledger' | 'log' | 'meta' | 'writer'> & {
  /** beat is told of datasets that got events. */
  beat(logId: string, nowMs: number): void
  /** parsed is told what the parser of a dataset made of its lines. */
  parsed(parsed: ParsedLines, nowMs: number): void
  limits: Pick<LimitMeter, 'mustBeOpen' | 'admit'>
}
