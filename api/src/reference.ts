import { z } from 'zod'
import { endpoint } from './endpoint.ts'

/** The endpoints that explain the others: everything they show is made from the contract. */
export const reference = {
  home: endpoint({
    method: 'GET',
    path: '/',
    permission: 'public',
    tier: 'D',
    summary: 'What this is and whether it is well',
    description: 'A page for people. Whoever asks for `application/json` before `text/html` gets `{name, version, docs}`.',
    media: 'text/html',
    reply: z.string(),
  }),
  openapi: endpoint({
    method: 'GET',
    path: '/openapi.json',
    permission: 'public',
    tier: 'D',
    summary: 'This API as an OpenAPI 3.1 document',
    reply: z.looseObject({ openapi: z.literal('3.1.0') }),
  }),
  page: endpoint({
    method: 'GET',
    path: '/docs',
    permission: 'public',
    tier: 'D',
    summary: 'This reference',
    media: 'text/html',
    reply: z.string(),
  }),
  style: endpoint({
    method: 'GET',
    path: '/docs/reference.css',
    permission: 'public',
    tier: 'D',
    summary: 'The style of the reference page',
    media: 'text/css',
    reply: z.string(),
  }),
  script: endpoint({
    method: 'GET',
    path: '/docs/reference.js',
    permission: 'public',
    tier: 'D',
    summary: 'The script of the reference page: search and trying out',
    media: 'text/javascript',
    reply: z.string(),
  }),
  icon: endpoint({
    method: 'GET',
    path: '/docs/icon.svg',
    permission: 'public',
    tier: 'D',
    summary: 'The icon of the reference page',
    media: 'image/svg+xml',
    reply: z.string(),
  }),
}
