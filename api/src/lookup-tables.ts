import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { int64, Metadata, text, uuid, withoutControls } from './values.ts'

const NAME_CHARS_MAX = 100
const COLUMN_CHARS_MAX = 1_024
const CSV_CHARS_MAX = 3_000_000

export const LookupTable = z
  .object({
    id: uuid,
    name: z.string(),
    description: z.string().optional(),
    key: z.string().describe('The column whose values select rows.'),
    columns: z.array(z.string()).describe('The names in the first line of the file.'),
    rows: z.int().min(0),
    bytes: int64.describe('The size of the file.'),
    sha256: z
      .string()
      .optional()
      .describe('The SHA-256 of the file in hexadecimal; absent while the rows are those of an earlier version of Dendro.'),
    version: z.int().min(1).describe('Counts the replacements of the rows.'),
    metadata: Metadata,
  })
  .meta({ id: 'LookupTable', description: 'A table whose values ingest rules add to events.' })
export type LookupTable = z.output<typeof LookupTable>

const params = z.object({ tableId: uuid })
const CSV = 'A file in the format CSV (RFC 4180) in UTF-8 with commas, whose first line names the columns.'

export const lookupTables = {
  list: endpoint({
    method: 'GET',
    path: '/lookup-tables',
    permission: 'ingest_rules_read',
    tier: 'D',
    summary: 'List the lookup tables of the organization',
    reply: z.object({ lookup_tables: z.array(LookupTable) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/lookup-tables',
    permission: 'ingest_rules_write',
    tier: 'D',
    summary: 'Create a lookup table',
    description:
      'A table for more than 3,000,000 characters is created with its first line only; `PUT /lookup-tables/{tableId}/rows` replaces it.',
    body: z.object({
      name: withoutControls(text(1, NAME_CHARS_MAX)).describe('Rules name the table by it. It must be unique in the organization.'),
      description: text(0, 1_000).optional(),
      key: text(1, COLUMN_CHARS_MAX).describe('The column whose values select rows. The last row with a value counts.'),
      csv: text(1, CSV_CHARS_MAX).describe(CSV),
    }),
    status: 201,
    reply: LookupTable,
    fails: [409],
  }),
  get: endpoint({
    method: 'GET',
    path: '/lookup-tables/{tableId}',
    permission: 'ingest_rules_read',
    tier: 'D',
    summary: 'Get a lookup table, without its rows',
    params,
    reply: LookupTable,
    fails: [404],
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/lookup-tables/{tableId}',
    permission: 'ingest_rules_write',
    tier: 'D',
    summary: 'Change the description of a lookup table',
    params,
    body: z.object({ description: text(0, 1_000) }),
    reply: LookupTable,
    fails: [404],
  }),
  rows: endpoint({
    method: 'GET',
    path: '/lookup-tables/{tableId}/rows',
    permission: 'ingest_rules_write',
    tier: 'D',
    summary: 'Download the file of a lookup table, as it was uploaded',
    description: 'An organization downloads one table at a time.',
    params,
    media: 'text/csv',
    reply: z.string(),
    fails: [404, 503],
  }),
  replaceRows: endpoint({
    method: 'PUT',
    path: '/lookup-tables/{tableId}/rows',
    permission: 'ingest_rules_write',
    tier: 'D',
    summary: 'Replace all rows of a lookup table at once',
    description: `${CSV} At most 1,000,000 rows, 50 columns and 64 MiB. It must have the key column, and the columns that rules use. Events that arrive within 2 seconds may still see the previous rows.`,
    params,
    takes: ['text/csv'],
    reply: LookupTable,
    fails: [404, 409, 413, 415, 503],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/lookup-tables/{tableId}',
    permission: 'ingest_rules_delete',
    tier: 'D',
    summary: 'Delete a lookup table that no rule uses',
    params,
    fails: [404, 409],
  }),
}
