import { untilQuiet } from '../stand/process-tree.ts'
import type { Service } from '../stand/service.ts'
import type { Place } from './queries.ts'
import { type MovedRange, newRanges } from './ranges.ts'
import { type Send, senderTo } from './requests.ts'
import { startOnStand } from './stand.ts'

/** The service as users run it: its stores are embedded, and nothing is between them and the service. */
export type ServiceAsUsed = { service: Service; send: Send; place: Place; nextRange(): MovedRange }

/** Starts the service on the stores of a stand and waits until it is idle. */
export async function openAsUsed(dataDir: string, place: Place, settings: Record<string, string>): Promise<ServiceAsUsed> {
  const service = await startOnStand(dataDir, settings)
  await untilQuiet(service.pid)
  return { service, send: senderTo(service), place, nextRange: newRanges(place) }
}
