import { z } from 'zod'
import { endpoint } from './endpoint.ts'

export const metrics = {
  get: endpoint({
    method: 'GET',
    path: '/metrics',
    permission: 'metrics_read',
    tier: 'D',
    summary: "The service's own figures in the Prometheus text format, for keys of the management organization",
    media: 'text/plain; version=0.0.4; charset=utf-8',
    reply: z.string(),
  }),
}
