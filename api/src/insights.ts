import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { nothing } from './values.ts'

const NO_FINDINGS = 'insights about ingested data are not available yet'
const common = { tier: 'X', permission: 'logs_read' } as const

/** Not built: the list is empty. */
export const insights = {
  list: endpoint({
    method: 'GET',
    path: '/insights',
    summary: 'List insights about ingested data',
    reply: z.object({ insights: nothing }),
    empty: NO_FINDINGS,
    ...common,
  }),
  get: endpoint({ method: 'GET', path: '/insights/{insightId}', summary: 'One finding', absent: NO_FINDINGS, fails: [501], ...common }),
}
