import type { Rehydration } from '@dendro/api'
import { bytes, count, quantity } from '../../../parts/chart/numbers.ts'

/** The files of a rehydration. One that failed before it knew of any does not know whether one matches. */
export function filesText(one: Pick<Rehydration, 'status' | 'files' | 'ended_files' | 'bytes' | 'ended_at'>): string {
  if (one.files > 0) return `${count(one.ended_files)} of ${quantity(one.files, 'file')}, ${bytes(one.bytes)}`
  if (one.ended_at === undefined) return 'listing the files'
  return one.status === 'COMPLETE' ? 'no file matches' : ''
}
