import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { lastOf, list, text } from './values.ts'

const STATEMENTS_MAX = 10_000

const statementId = z
  .string()
  .regex(/^[0-9A-Fa-f]{16}$/, { error: 'must be 16 hexadecimal digits' })
  .toLowerCase()
  .meta({ examples: ['00f1e2d3c4b5a697'] })

const line = z.int().min(-1)

const Statement = z
  .object({ id: statementId, message: text(0, 32_768), file: text(1, 4_096), line: line.describe('-1 when unknown.') })
  .meta({ id: 'Statement', description: 'A logging statement in source code; its text is the template of events.' })
export type Statement = z.output<typeof Statement>

const StatementReference = z
  .object({
    entity_type: z.enum(['dashboard', 'monitor', 'savedSearch']),
    name: z.string(),
    id: z.string(),
    message: z.string(),
    file: z.string(),
    line,
  })
  .meta({
    id: 'StatementReference',
    description: 'A record that refers to a statement: `name` is that of the record, the other members are those of the statement.',
  })
export type StatementReference = z.output<typeof StatementReference>

const StatementSet = z.object({
  project_id: text(1, 255),
  repo_url: text(1, 2_048),
  version: text(1, 255),
  statements: list(Statement, { max: STATEMENTS_MAX }),
})
export type StatementSet = z.output<typeof StatementSet>

export const statements = {
  replace: endpoint({
    method: 'POST',
    path: '/statements',
    permission: 'logs_write',
    tier: 'X',
    summary: 'Replace the statements of a project version; 201 the first time, 200 afterwards',
    body: StatementSet,
    status: 201,
    otherStatuses: { 200: 'This version had statements already; they were replaced.' },
    reply: z.object({ count: z.int().min(0) }),
  }),
  list: endpoint({
    method: 'GET',
    path: '/statements',
    permission: 'logs_read',
    tier: 'X',
    summary: 'List the statements of a project, by default of its newest version',
    query: z.object({
      project_id: z.preprocess(lastOf, text(1, 255)),
      version: z.preprocess((value) => lastOf(value) || undefined, text(1, 255).optional()),
    }),
    reply: z.object({ statements: z.array(Statement) }),
    fails: [404],
  }),
  get: endpoint({
    method: 'GET',
    path: '/statements/{statementId}',
    permission: 'logs_read',
    tier: 'X',
    summary: 'Get a statement of the newest version, and the records that refer to it',
    params: z.object({ statementId }),
    reply: Statement.extend({
      project_id: z.string(),
      repo_url: z.string(),
      version: z.string(),
      references: z.array(StatementReference),
    }),
    fails: [404],
  }),
}
