import { factsOfWork } from '../../../http/actor.ts'
import type { JobKind, JobRun } from '../../../jobs/job.ts'
import type { World } from '../../../world.ts'
import { type IdpRow, idpById } from '../sso/sso.ts'
import { endSignOn } from './ending.ts'
import { keptSecret, sealedToken } from './kept-sign-ons.ts'
import { openChecks, type Verdict } from './provider-client.ts'
import {
  confirmSignOn,
  type Due,
  deleteEndedSignOns,
  failDueSignOns,
  failSignOn,
  type SignOnRow,
  selectDueProviders,
  selectDueSignOns,
} from './sign-on-rows.ts'

const KIND = 'sign_on_recheck'
const RUN_EVERY_MS = 30_000
/** With the time of a run, a user whom a provider has removed loses access within five minutes. */
const CHECK_EVERY_MS = 3 * 60_000
/** Later times were written while a clock was wrong. */
const CLOCK_AHEAD_MS = 60_000
/** About an hour. Checks are counted instead of time, since a clock may jump, and since nobody is asked while the service does not run. */
const UNANSWERED_MAX = 20
/** Then the provider is not asked about the others in this run. */
const UNANSWERED_IN_A_ROW_MAX = 3
const KEPT_MS = 60 * 60_000
const ORGANIZATIONS_AT_ONCE = 8
const CHECKS_AT_ONCE = 8
/** The share of one organization in a run, so that its slow providers do not delay others. */
const ORGANIZATION_MS = 20_000
const ROWS_MAX = 200

/** Asks the providers again about the sign-ons whose sessions are open, and ends those that they refuse. One process does so at a time. */
export const signOnRecheck = (world: World): JobKind => ({
  name: KIND,
  everyMs: RUN_EVERY_MS,
  isDueAtStart: true,
  run: async (job) => {
    await recheckDue(world, job)
    return undefined
  },
})

type Rechecking = { job: Pick<JobRun, 'hold' | 'signal'>; signal: AbortSignal; due: Due }

async function recheckDue(world: World, job: Pick<JobRun, 'hold' | 'signal'>): Promise<void> {
  const nowMs = world.clock.nowMs()
  const aheadMs = nowMs + CLOCK_AHEAD_MS
  await deleteEndedSignOns(world.meta, nowMs - KEPT_MS, aheadMs)
  const due = { nowMs, beforeMs: nowMs - CHECK_EVERY_MS, aheadMs }
  const found = Map.groupBy(await selectDueProviders(world.meta, due), ({ org_id }) => org_id)
  await atOnce(ORGANIZATIONS_AT_ONCE, [...found.values()], async (providers) => {
    const signal = AbortSignal.any([job.signal, AbortSignal.timeout(ORGANIZATION_MS)])
    for (const { idp_id } of providers) {
      if (signal.aborted) return
      // One provider must not keep the others from being asked.
      await recheckProvider(world, { job, signal, due }, idp_id).catch((err) => {
        job.signal.throwIfAborted()
        world.log.warn({ err, idp: idp_id }, 'the sign-ons of an identity provider could not be checked')
      })
    }
  })
  job.signal.throwIfAborted()
}

async function recheckProvider(world: World, run: Rechecking, idpId: string): Promise<void> {
  const idp = await idpById(world, idpId)
  if (!idp) return
  const ask = await openChecks(world, idp).catch((err: unknown) => {
    world.log.warn({ err, idp: idp.id }, 'an identity provider could not be asked about its users')
    return undefined
  })
  if (!ask) return failDue(world, run, idp)
  const { signal, due } = run
  let unanswered = 0
  const isOver = (): boolean => signal.aborted || unanswered >= UNANSWERED_IN_A_ROW_MAX
  for (;;) {
    const rows = await selectDueSignOns(world.meta, idp.id, due, ROWS_MAX)
    await atOnce(CHECKS_AT_ONCE, rows, async (row) => {
      if (isOver()) return
      const verdict = await verdictOn(world, ask, row)
      if (verdict.kind === 'unanswered')
        world.log.warn({ err: verdict.cause, idp: idp.id }, 'an identity provider did not answer about a user')
      unanswered = verdict.kind === 'unanswered' ? unanswered + 1 : 0
      await settle(world, run, { idp, row, verdict })
    })
    if (unanswered >= UNANSWERED_IN_A_ROW_MAX && !signal.aborted) return failDue(world, run, idp)
    if (rows.length < ROWS_MAX || isOver()) return
  }
}

/** A token that cannot be opened is as good as no answer, so that it does not keep others from being checked. */
async function verdictOn(world: World, ask: Awaited<ReturnType<typeof openChecks>>, row: SignOnRow): Promise<Verdict> {
  try {
    const token = await keptSecret(world, row, 'token')
    if (!token || !row.token_type) throw new Error('the sign-on has no token')
    return await ask({ type: row.token_type, token, subject: row.subject })
  } catch (cause) {
    return { kind: 'unanswered', cause }
  }
}

async function settle(world: World, run: Rechecking, of: { idp: IdpRow; row: SignOnRow; verdict: Verdict }): Promise<void> {
  const { idp, row, verdict } = of
  const nowMs = world.clock.nowMs()
  await world.meta.write(idp.org_id, async (tx) => {
    await run.job.hold(tx)
    if (verdict.kind === 'confirmed') {
      const token = verdict.token === undefined ? null : await sealedToken(world, tx, row, verdict.token)
      await confirmSignOn(tx, row.id, nowMs, token)
      return
    }
    const isRefused = verdict.kind === 'refused'
    const failed = isRefused ? row : await failSignOn(tx, row.id, nowMs)
    if (failed && (isRefused || failed.failures >= UNANSWERED_MAX))
      await endSignOn(world, tx, { idp, row, isRefused, facts: factsOfWork(KIND) })
  })
}

/** Counts one check without an answer for each sign-on that is due; those with too many end, each in a transaction of its own. */
async function failDue(world: World, { job, signal, due }: Rechecking, idp: IdpRow): Promise<void> {
  const failed = await world.meta.write(idp.org_id, async (tx) => {
    await job.hold(tx)
    return failDueSignOns(tx, idp.id, { ...due, nowMs: world.clock.nowMs() })
  })
  for (const row of failed) {
    if (signal.aborted) return
    if (row.failures < UNANSWERED_MAX) continue
    await world.meta.write(idp.org_id, async (tx) => {
      await job.hold(tx)
      await endSignOn(world, tx, { idp, row, isRefused: false, facts: factsOfWork(KIND) })
    })
  }
}

/** Does the work for all items, only some at once. */
async function atOnce<T>(most: number, items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  await Promise.all(
    Array.from({ length: Math.min(most, items.length) }, async () => {
      for (const item of left) await work(item)
    }),
  )
}
