import { z } from 'zod'
import type { PendingFile } from '../../../files/files.ts'
import type { ExportRow } from './rows.ts'

/** The job kind that writes exports. */
export const EXPORTING = 'export'

const Parts = z.array(z.object({ name: z.string(), bytes: z.number() }))

/**
 * The progress of an export. Its parts hold everything before `after` in dataset number `dataset`, and all datasets before it. Parts and
 * position are saved together, so that any process resumes exactly there.
 */
const State = z.object({
  upload: z.string().optional(),
  /** The expected number of events, if it could be counted. */
  expected: z.number().optional(),
  dataset: z.number().default(0),
  after: z.object({ ns: z.string(), seq: z.string() }).optional(),
  parts: Parts.default([]),
  /** The bytes of text by dataset. */
  used: z.record(z.string(), z.number()).default({}),
  /** notes: the number of notes; isEnded: whether the parts contain the end of the file. */
  notes: z.number().default(0),
  isEnded: z.boolean().default(false),
  /** The keys with a column of their own, in formats with columns. */
  columns: z.array(z.string()).optional(),
})
export type ExportState = z.output<typeof State>

export const readState = ({ state }: Pick<ExportRow, 'state'>): ExportState => State.parse(state)

/** The unfinished file of an export. */
export const draftOf = (row: Pick<ExportRow, 'id' | 'state'>): PendingFile => ({ key: row.id, upload: readState(row).upload ?? '' })

/** The datasets of an export, in file order. */
export const datasetIds = ({ search_details }: Pick<ExportRow, 'search_details'>): string[] => search_details.from.split(':')
