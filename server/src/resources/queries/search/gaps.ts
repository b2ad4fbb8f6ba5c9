import type { Warning } from '@dendro/language/warnings'
import type { Question } from '../../../reading/question.ts'
import type { World } from '../../../world.ts'

/** allowGaps lets a question be answered without the part of the event store that is away, where the operator wants that. */
export const allowGaps = ({ deployment }: Pick<World, 'deployment'>, question: Question): Question =>
  deployment.skipsMissingShards ? { ...question, gaps: { found: false } } : question

/** gapWarnings say that an answer lacks a part. */
export const gapWarnings = ({ gaps }: Pick<Question, 'gaps'>, field = 'from'): Warning[] =>
  gaps?.found
    ? [
        {
          field,
          code: 'MISSING_SHARD',
          message: 'a part of the event store does not answer just now; events that lie there are missing here',
        },
      ]
    : []
