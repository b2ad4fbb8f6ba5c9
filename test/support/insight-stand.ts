import { gzipSync } from 'node:zlib'
import type { Insight } from '@dendro/api'
import { insightEvaluation } from '../../server/src/resources/watching/insights/insights.ts'
import { openSendersAlone, type Senders } from './senders.ts'
import type { TestOrganization } from './world.ts'

export const HOUR_MS = 3_600_000
/** Minutes into an hour at which events are sent and insights are evaluated, so that the hour before has settled. */
const MINUTES_IN = 10

/** A service whose clock is moved hour by hour, and the job that evaluates insights. */
export type InsightStand = {
  readonly senders: Senders
  readonly org: TestOrganization
  /** Sends the lines of datasets at the present time. */
  send(lines: Readonly<Record<string, readonly string[]>>, owner?: TestOrganization): Promise<void>
  /** Moves the clock to the next hour. */
  nextHour(hours?: number): void
  /** Runs the job until it is up to date. */
  evaluate(): Promise<void>
  insights(owner?: TestOrganization): Promise<Insight[]>
  idOf(dataset: string, owner?: TestOrganization): Promise<string>
  close(): Promise<void>
}

export async function openInsightStand(): Promise<InsightStand> {
  const senders = await openSendersAlone()
  const { app, org } = senders
  const job = insightEvaluation(app.app.world)
  let payload: Record<string, unknown> = {}
  app.clock.advance(HOUR_MS - (app.clock.nowMs() % HOUR_MS) + MINUTES_IN * 60_000)
  const insights = async (owner = org): Promise<Insight[]> => {
    const { status, body } = await owner.ask<{ insights: Insight[] }>('GET', '/insights')
    if (status !== 200) throw new Error(`the insights were not listed: ${status}`)
    return body.insights
  }
  return {
    senders,
    org,
    send: async (lines, owner = org) => {
      const post = async ([dataset, own]: [string, readonly string[]]): Promise<void> => {
        if (own.length === 0) return
        const headers = { 'x-service-dataset': dataset, 'content-encoding': 'gzip' }
        const { status, body } = await senders.post(gzipSync(own.join('\n'), { level: 1 }), { owner, headers })
        if (status >= 300 || body.rejected > 0) throw new Error(`events were not taken: ${status} ${JSON.stringify(body)}`)
      }
      await Promise.all(Object.entries(lines).map(post))
    },
    nextHour: (hours = 1) => {
      const toMs = (Math.floor(app.clock.nowMs() / HOUR_MS) + hours) * HOUR_MS + MINUTES_IN * 60_000
      app.clock.advance(toMs - app.clock.nowMs())
    },
    evaluate: async () => {
      await app.app.world.ledger.flush()
      await app.app.world.usage.flush()
      for (;;) {
        const signal = new AbortController().signal
        const again = await job.run({ id: '', orgId: undefined, payload, attempt: 1, fence: 1, signal, hold: async () => undefined })
        if (!again?.payload) throw new Error('the job of insights is recurring')
        payload = again.payload
        if (again.againInMs > 0) return
      }
    },
    insights,
    idOf: async (dataset, owner = org) => {
      const found = await senders.found('default', dataset, owner)
      if (!found) throw new Error(`there is no dataset ${dataset}`)
      return found.id
    },
    close: () => senders.close(),
  }
}
