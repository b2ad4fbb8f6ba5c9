import type { Event } from '@dendro/api'
import { z } from 'zod'

const FORM = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\.(\d{1,15})\.(\d{1,19})$/

/** Names an event by its dataset, time and sequence number, as links of the web app do. */
export const eventReference = ({ metadata }: Pick<Event, 'metadata'>): string =>
  `${metadata.service_id}.${metadata.timestamp}.${metadata.sequence}`

export const eventArgument = z
  .string()
  .regex(FORM, { error: 'must be the `event` of a row, as search returns it' })
  .describe('The `event` of a row of search or event_context.')

export function placeOfEvent(reference: string): { logId: string; timestamp: number; sequence: string } {
  const [, logId = '', timestamp = '', sequence = ''] = FORM.exec(reference) ?? []
  return { logId, timestamp: Number(timestamp), sequence }
}
