import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { uuid } from './values.ts'

export const collections = {
  list: endpoint({
    method: 'GET',
    path: '/collections',
    permission: 'logs_read',
    tier: 'C',
    summary: 'The collections of the datasets the caller may see, sorted by name: one object each, from its name to its datasets',
    reply: z.object({
      collections: z.array(z.record(z.string(), z.array(z.object({ dataset: z.string(), id: uuid })))),
    }),
  }),
}
