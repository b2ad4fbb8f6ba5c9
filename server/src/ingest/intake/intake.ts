import type { Readable } from 'node:stream'
import type { Actor } from '../../http/actor.ts'
import type { Head, Taker, Takers } from '../../http/raw-handler.ts'
import { Failure } from '../../kernel/errors.ts'
import type { Answered, Outcome, ParsedNotes, Receiver, ReceiverRoute, RequestHead } from '../batch.ts'
import { receivers } from '../receivers/receivers.ts'
import { Account, reasonOf } from './accounting.ts'
import { readBody } from './body.ts'
import { Budget, busy, type Hold } from './budget.ts'
import type { IntakeWorld } from './intake-world.ts'
import { openPool, type Pool } from './pool.ts'
import { Refusals } from './refusals.ts'
import { readRouting } from './routing.ts'
import { storePost } from './store.ts'

export type IntakeOptions = {
  /** bytesMax bounds the bodies of all requests together. */
  bytesMax: number
  /** extraPrefixes stand beside `x-service-` in the names of the routing headers. */
  extraPrefixes: readonly string[]
  /** extraKeyHeaders may carry a credential, and go no further than the door. */
  extraKeyHeaders: readonly string[]
  pool?: Pool
}

/** An Intake takes what arrives by HTTP, in any of the protocols, to the store. */
export type Intake = {
  /** taker answers requests of one protocol. */
  taker(receiver: Receiver, action?: string): Taker
  /** takers find the protocol of a request by the end of its path. */
  takers: Takers
  close(): Promise<void>
}

export function openIntake(world: IntakeWorld, options: IntakeOptions): Intake {
  const pool = options.pool ?? openPool({ log: world.log })
  const budget = new Budget(options.bytesMax)
  const refusals = new Refusals(world.log)
  const taker = (receiver: Receiver, action = `ingestion.${receiver.name}`): Taker => ({
    action,
    permission: 'events_write',
    take: (call) => take({ world, options, pool, budget, refusals }, receiver, call),
    refuse: (head, failure, correlationId, actor) => {
      const route = findRoute(receiver, head)
      if (actor && !route?.probe) {
        const reason = doorReasonOf(failure)
        new Account(world.ledger, { actor, protocol: receiver.name }).refused(failure, reason)
        refusals.note(actor, receiver.name, reason, failure)
      }
      return receiver.answer(requestOf(head, route, correlationId, options), { kind: 'refused', failure }, undefined)
    },
  })
  const all = receivers.map((receiver) => ({ receiver, taker: taker(receiver) }))
  return {
    taker,
    takers: (head, known) => all.find(({ receiver }) => mayTake(findRoute(receiver, head), head, known))?.taker,
    close: async () => {
      await pool.close()
      refusals.close()
    },
  }
}

/** doorReasonOf tells the limit on requests, which the door keeps, from those on events. */
const doorReasonOf = (failure: Failure): string => (failure.status === 429 ? 'rate' : reasonOf(failure))

/** A tail that brings events is like no path of ours; a probe has to stand behind ours, but for the root, where it shows a client of its protocol. */
function mayTake(route: ReceiverRoute | undefined, head: Head, known: boolean): boolean {
  if (!route || !known) return route !== undefined
  return route.probe ? head.path === '/' && isSender(head) : true
}

/** isSender tells a shipper that looks who is there from a person or a program that asks for our first page. */
function isSender({ headers }: Head): boolean {
  if (headers.accept?.includes('text/html')) return false
  return (
    /^(basic|apikey)\s/i.test(headers.authorization ?? '') ||
    /elastic|logstash|manticore|fluent|vector\//i.test(`${headers['user-agent']} ${headers.accept}`)
  )
}

const findRoute = (receiver: Receiver, { method, path }: Head): ReceiverRoute | undefined =>
  receiver.routes.find(({ methods, tail }) => methods.includes(method) && tail.test(path))

const CREDENTIAL_HEADERS = [
  'authorization',
  'cookie',
  'x-service-api-key',
  'dd-api-key',
  'x-amz-firehose-access-key',
  'proxy-authorization',
]

/** requestOf is what a receiver sees of a request: the end of its path, and no credential. */
function requestOf(head: Head, route: ReceiverRoute | undefined, correlationId: string, { extraKeyHeaders }: IntakeOptions): RequestHead {
  const hidden = new Set([...CREDENTIAL_HEADERS, ...extraKeyHeaders])
  const headers = Object.fromEntries(Object.entries(head.headers).filter(([name]) => !hidden.has(name)))
  return {
    path: route?.tail.exec(head.path)?.[0] ?? head.path,
    query: head.query,
    headers: { ...headers, 'x-correlation-id': correlationId },
    contentType: head.headers['content-type'] ?? '',
  }
}

type Means = { world: IntakeWorld; options: IntakeOptions; pool: Pool; budget: Budget; refusals: Refusals }
type Call = { actor: Actor; head: Head; body: Readable }

async function take(means: Means, receiver: Receiver, { actor, head, body }: Call): Promise<Answered> {
  const route = findRoute(receiver, head)
  const request = requestOf(head, route, actor.facts.correlationId, means.options)
  if (route?.probe) return route.probe(request)
  const hold = means.budget.open(`${actor.orgId}/${actor.identity.id}`)
  const account = new Account(means.world.ledger, { actor, protocol: receiver.name })
  try {
    const { outcome, parsed } = await takeBody(means, hold, receiver, { actor, head, body, request, account })
    return receiver.answer(request, outcome, parsed)
  } catch (thrown) {
    account.refused(thrown)
    return receiver.answer(request, { kind: 'refused', failure: refusalOf(means, receiver, actor, thrown) }, undefined)
  } finally {
    hold.release()
  }
}

/** refusalOf makes trouble of ours a reason to come again: on anything else senders throw their events away. */
function refusalOf({ world, refusals }: Means, receiver: Receiver, actor: Actor, thrown: unknown): Failure {
  if (thrown instanceof Failure) {
    refusals.note(actor, receiver.name, reasonOf(thrown), thrown)
    return thrown
  }
  world.log.error({ err: thrown, correlation_id: actor.facts.correlationId }, 'a post ended in a bug')
  return busy('something went wrong on our side; the correlation id finds it in the log')
}

type Taken = { outcome: Outcome; parsed: ParsedNotes | undefined }

type BodyCall = Call & { request: RequestHead; account: Account }

async function takeBody(means: Means, hold: Hold, receiver: Receiver, { actor, head, body, request, account }: BodyCall): Promise<Taken> {
  const { world, options, pool } = means
  const asked = readRouting(head, options.extraPrefixes)
  const arrived = (bytes: number): void => {
    account.wireBytes += bytes
  }
  const { bytes } = await readBody(body, head.headers, { limits: receiver.limits, hold, arrived })
  if (bytes.length === 0) return { outcome: { kind: 'stored', accepted: 0, rejected: [], total: 0, duplicates: [] }, parsed: undefined }
  // The split events take about as much memory again.
  hold.take(bytes.length)
  return storePost(world, pool, { actor, receiver, asked, request: { ...request, body: bytes }, account })
}
