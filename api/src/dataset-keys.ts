import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { range } from './search.ts'
import { text, textList, uuid } from './values.ts'

const KEYS_MAX = 10

export const datasetKeys = {
  resolve: endpoint({
    method: 'POST',
    path: '/datasets/resolve',
    permission: 'search_read',
    tier: 'X',
    summary: 'Find the datasets in which all given keys occur in a time range',
    body: z.object({
      keys: textList(text(1, 256), { max: KEYS_MAX }).optional().describe('At least one, unless from_expr is given.'),
      from_expr: text(0, 4_096).optional().describe('Restricts the search to the datasets of this selector.'),
      ...range,
      match_type: z.enum(['EXACT', 'IEXACT', 'SUBSTRING', 'ISUBSTRING']).default('EXACT').describe('The I forms ignore case.'),
      expand_type: z.enum(['DISABLED', 'SYNONYM']).default('DISABLED').describe('SYNONYM requires EXACT or IEXACT.'),
    }),
    reply: z.object({ datasets: z.array(z.object({ id: uuid, type: z.literal('LOG') })) }),
    fails: [404, 503],
  }),
}
