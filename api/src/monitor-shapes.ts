import { z } from 'zod'
import { list, text } from './values.ts'

/** Enumerations and notification targets of monitors (API reference 3.1). */

export const monitorTypes = ['PATTERN', 'USAGE', 'CHANGE_DETECTION', 'ANOMALY_DETECTION'] as const
export const operators = ['BELOW', 'BELOW_OR_EQUAL', 'ABOVE', 'ABOVE_OR_EQUAL', 'EQUAL', 'NOT_EQUAL', 'OUTSIDE'] as const

export const MonitorStatus = z.enum(['OK', 'NO_DATA', 'ALERT', 'WARN']).meta({ id: 'MonitorStatus' })

const transitions = ['ALERT', 'WARN', 'ALERT_TO_WARN', 'ALERT_RECOVERY', 'WARN_RECOVERY', 'NO_DATA', 'NO_DATA_RECOVERY'] as const
export const MonitorTransition = z.enum(transitions).meta({ id: 'MonitorTransition' })

export const Action = z
  .object({ type: z.enum(['EMAIL', 'INTEGRATION']), email: z.string().optional(), integration_id: z.string().optional() })
  .meta({ id: 'MonitorAction', description: 'A notification target of a monitor: an e-mail address or an integration.' })
export type Action = z.output<typeof Action>

const ACTIONS_MAX = 10
/** Those that a request names. */
export const monitorActions = list(
  z.object({
    type: z.enum(['EMAIL', 'INTEGRATION']).optional(),
    email: text(0, 255).optional(),
    integration_id: text(0, 50).optional(),
  }),
  { min: 1, max: ACTIONS_MAX },
)
