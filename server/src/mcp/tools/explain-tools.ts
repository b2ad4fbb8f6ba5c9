import { type AiEvent, contract } from '@dendro/api'
import { z } from 'zod'
import { unavailable } from '../../kernel/errors.ts'
import { exploreLink } from '../app-links.ts'
import { eventArgument, placeOfEvent } from '../event-reference.ts'
import { timeText } from '../sources.ts'
import { type AgentTool, readingTool } from '../tool.ts'

const AROUND_MS = 300_000
const EXPLANATION_CHARS = 6_000

const explainError = readingTool({
  name: 'explain_error',
  title: 'Explain an error',
  description:
    'Collects facts about one event: how often its pattern occurs and since when, which values differ from other events, what came around it, and what to check next.',
  permissions: ['ai_use', 'search_read'],
  input: z.strictObject({ event: eventArgument }),
  output: { data: { explanation: z.string() } },
  run: async ({ event }, context) => {
    const { logId, timestamp, sequence } = placeOfEvent(event)
    const stream = await context.call(contract.assistants.explainError, { query: { logId, timestamp, sequence } })
    const steps = eventsOf(stream)
    const failed = steps.find(({ type }) => type === 'ERROR')
    if (failed) throw unavailable(failed.message ?? 'the answer could not be finished')
    const explanation = steps.flatMap(({ type, message }) => (type === 'AI_RESPONSE_DELTA' && message ? [message] : [])).join('')
    const bounds = { fromMs: timestamp - AROUND_MS, toMs: timestamp + AROUND_MS }
    return {
      summary: `Facts about the event of ${timeText(timestamp)}.`,
      link: exploreLink(context, { datasets: [logId], bounds, event }),
      data: { explanation: context.cuts.text(explanation.trim(), EXPLANATION_CHARS) },
    }
  },
})

/** The events of a server-sent stream that has ended. */
const eventsOf = (stream: string): AiEvent[] =>
  stream.split('\n\n').flatMap((part) => (part.startsWith('data: ') ? [JSON.parse(part.slice('data: '.length)) as AiEvent] : []))

export const explainTools: readonly AgentTool[] = [explainError]
