import { z } from 'zod'
import { endpoint } from './endpoint.ts'

/** The pages of the web app by the names in their addresses. */
export const webPages = [
  'explore',
  'dashboards',
  'monitors',
  'downtimes',
  'exports',
  'data',
  'usage',
  'spend',
  'traces',
  'settings',
  'api',
  'welcome',
  'sign-in',
  'invitation',
  '_kit',
] as const

/** The web app: one page for every address under /app, and its files. It uses the API like any other client. */
export const webApp = {
  start: endpoint({
    method: 'GET',
    path: '/app',
    permission: 'public',
    tier: 'D',
    summary: 'Show the web app',
    media: 'text/html',
    reply: z.string(),
    fails: [404],
  }),
  page: endpoint({
    method: 'GET',
    path: '/app/{page}',
    permission: 'public',
    tier: 'D',
    summary: 'Show a page of the web app',
    media: 'text/html',
    params: z.object({ page: z.string() }),
    reply: z.string(),
    fails: [404],
  }),
  file: endpoint({
    method: 'GET',
    path: '/app/files/{file}',
    permission: 'public',
    tier: 'D',
    summary: 'Get a file of the web app; its name changes with its content, so it may be cached forever',
    media: 'application/octet-stream',
    params: z.object({ file: z.string() }),
    reply: z.unknown(),
    fails: [404],
  }),
}
