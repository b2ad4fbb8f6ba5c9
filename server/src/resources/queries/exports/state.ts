import { z } from 'zod'
import type { PendingFile } from '../../../files/files.ts'
import type { ExportRow } from './rows.ts'

/** EXPORTING is the kind of job that writes exports. */
export const EXPORTING = 'export'

const Parts = z.array(z.object({ name: z.string(), bytes: z.number() }))

/**
 * State is how far an export is. What its parts hold is everything before `after` in the dataset numbered `dataset`, and all of the datasets before
 * it; a part and the place it reaches to are written down together, so that whoever goes on begins exactly there.
 */
const State = z.object({
  upload: z.string().optional(),
  /** expected is how many events there will be, as far as it could be counted. */
  expected: z.number().optional(),
  dataset: z.number().default(0),
  after: z.object({ ns: z.string(), seq: z.string() }).optional(),
  parts: Parts.default([]),
  /** used are the bytes of lines by dataset. */
  used: z.record(z.string(), z.number()).default({}),
  /** notes is how many notes there are, isEnded whether the end of the file is in its parts. */
  notes: z.number().default(0),
  isEnded: z.boolean().default(false),
  /** columns are the keys that have a column of their own, where the format has columns. */
  columns: z.array(z.string()).optional(),
})
export type ExportState = z.output<typeof State>

export const readState = ({ state }: Pick<ExportRow, 'state'>): ExportState => State.parse(state)

/** draftOf is the file of an export in the depot. */
export const draftOf = (row: Pick<ExportRow, 'id' | 'state'>): PendingFile => ({ key: row.id, upload: readState(row).upload ?? '' })

/** datasetIds are what an export reads, in the order in which it does. */
export const datasetIds = ({ search_details }: Pick<ExportRow, 'search_details'>): string[] => search_details.from.split(':')
