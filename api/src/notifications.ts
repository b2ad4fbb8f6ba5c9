import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { MetricFormula, MetricQuery, QUERIES_MAX } from './metric-shapes.ts'
import { MonitorTransition, monitorTypes, operators } from './monitor-shapes.ts'
import { list, text, uuid } from './values.ts'

const ACTIONS_MAX = 10
const SUGGESTIONS_MAX = 10

const formulas = list(MetricFormula.extend({ expression: text(2, 100) }), { max: 1 }).optional()

const TestNotifications = z
  .object({
    monitor_id: uuid.optional().describe('The monitor whose notifications list the test; without it, no record is stored.'),
    name: text(1, 255),
    description: text(1, 4_000).optional(),
    monitor_type: z.enum(monitorTypes).default('PATTERN'),
    comparison_operator: z.enum(operators),
    threshold: z.number(),
    warning_threshold: z.number().optional(),
    window: text(1, 100),
    actions: list(
      z.object({
        type: z.enum(['EMAIL', 'INTEGRATION']).optional(),
        email: text(0, 255).optional(),
        integration_id: text(0, 50).optional(),
      }),
      { min: 1, max: ACTIONS_MAX },
    ),
    queries: list(MetricQuery, { min: 1, max: QUERIES_MAX }),
    formulas,
    state_transitions: list(MonitorTransition, { min: 1, max: 7 }).describe('The status changes to send, in this order.'),
    group: text(0, 1_000).optional().describe('The group in the test, such as `host:web1,region:eu`.'),
    compare_to: text(0, 100).optional(),
    change_type: z.enum(['DIFFERENCE', 'PERCENTAGE']).optional(),
    evaluation_window: text(0, 100).optional(),
  })
  .meta({
    examples: [
      {
        name: 'Checkout errors',
        comparison_operator: 'ABOVE',
        threshold: 10,
        window: 'Last 5 minutes',
        actions: [{ email: 'oncall@example.org' }],
        queries: [{ name: 'errors', select: ['count(*)'], from: ['7d9f0c52-3c1e-4c5a-9a43-2f6f2c1b8e10'], where: 'level = error' }],
        state_transitions: ['ALERT', 'ALERT_RECOVERY'],
      },
    ],
  })

const SuggestionsRequest = z.object({
  number_of_suggestions: z.int().min(1).max(SUGGESTIONS_MAX).default(1),
  suggestion_fields: list(z.enum(['NAME', 'DESCRIPTION']), { max: 2 })
    .optional()
    .describe('Both when absent.'),
  monitor_context: z
    .object({
      threshold: z.number().optional(),
      comparison_operator: z.enum(operators).optional(),
      formulas,
      queries: list(MetricQuery, { max: QUERIES_MAX }).optional(),
    })
    .default({}),
})
export type SuggestionsRequest = z.output<typeof SuggestionsRequest>

export const notifications = {
  sendTest: endpoint({
    method: 'POST',
    path: '/monitors/send-test-notifications',
    permission: 'monitors_write',
    tier: 'X',
    summary: 'Send test notifications of a monitor, even if it is muted',
    body: TestNotifications,
  }),
  suggest: endpoint({
    method: 'POST',
    path: '/monitors/suggestions',
    permission: 'monitors_write',
    tier: 'X',
    summary: 'Propose names and descriptions for a monitor, by a configured model or from its queries',
    body: SuggestionsRequest,
    reply: z.object({ suggestions: z.array(z.object({ name: z.string().optional(), description: z.string().optional() })) }),
  }),
}
