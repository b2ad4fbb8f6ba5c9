import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { uuid } from './values.ts'

export const collections = {
  list: endpoint({
    method: 'GET',
    path: '/collections',
    permission: 'logs_read',
    tier: 'C',
    summary: 'List collections with their datasets, sorted by name; only datasets that the caller may see',
    reply: z.object({
      collections: z.array(z.record(z.string(), z.array(z.object({ dataset: z.string(), id: uuid })))),
    }),
  }),
}
