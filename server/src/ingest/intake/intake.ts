import type { Readable } from 'node:stream'
import type { Actor } from '../../http/actor.ts'
import { credentialParameters, credentialStateOf, SENDER_KEY_HEADERS } from '../../http/credential.ts'
import type { FindRawHandler, RawHandler, RequestHead } from '../../http/raw-handler.ts'
import { Failure } from '../../kernel/errors.ts'
import { hasIngestRules } from '../../resources/data/ingest-rules/ingest-rules.ts'
import type {
  Acknowledgements,
  DrainSettings,
  IngestOutcome,
  IngestRequest,
  IngestRequestHead,
  MessageParser,
  ParsedSummary,
  Receiver,
  ReceiverReply,
  ReceiverRoute,
  ReplyContext,
} from '../batch.ts'
import { native } from '../receivers/native/native.ts'
import { receivers } from '../receivers/receivers.ts'
import { PostAccounting, reasonOf } from './accounting.ts'
import { readBody } from './body.ts'
import { busy, MemoryBudget, type MemoryReservation } from './budget.ts'
import { encodingOf } from './decode.ts'
import type { IntakeWorld } from './intake-world.ts'
import { openPool, type WorkerPool } from './pool.ts'
import { Refusals } from './refusals.ts'
import { type RoutingRequest, readRouting, withKeyDefaults } from './routing.ts'
import { slicesOf } from './slices.ts'
import { storePost } from './store.ts'

export type IntakeOptions = {
  /** Bounds the bodies of all requests together. */
  bytesMax: number
  /** Further prefixes of routing headers, besides `x-service-`. */
  extraPrefixes: readonly string[]
  /** These headers may carry a credential, so receivers never see them. */
  extraKeyHeaders: readonly string[]
  /** Issues ids of acknowledgements to protocols that have them. */
  acknowledgements?: Acknowledgements | undefined
  drains?: DrainSettings
  /** The version that senders of the Elasticsearch protocol see. */
  protocolVersion?: string | undefined
  pool?: WorkerPool
}

/** Stores events that arrive over HTTP in any protocol. */
export type Intake = {
  /** Serves requests of one protocol. */
  rawHandler(receiver: Receiver, action?: string): RawHandler
  /** Finds the protocol of a request by the end of its path. */
  findRawHandler: FindRawHandler
  /** Reserves memory for a message while it arrives. */
  reserve(actor: Actor): MemoryReservation
  /** The memory for bodies of all requests. */
  memory(): { bytes: number; bytesMax: number }
  /** Stores the messages of a socket and returns when they are durable; any failure is a Failure. */
  storeMessages(batch: MessageBatch): Promise<IngestResult>
  /** Accounts for a message that is refused before it is complete. */
  noteRefused(sender: Pick<MessageBatch, 'actor' | 'parser'>, failure: Failure): void
  /** Gets ready to read posts, so that the first ones take little longer than others. */
  prepare(): void
  close(): Promise<void>
}

/** Messages that a listener has collected. */
export type MessageBatch = {
  actor: Actor
  parser: MessageParser
  routing: RoutingRequest
  request: IngestRequest
  /** The bytes on the wire. */
  wireBytes: number
  /** True when the messages are not sent again after this failure, so that they count as refused. */
  isLost(failure: Failure): boolean
  /** Kept by the sender from attempt to attempt. */
  attempts?: { isSplit: boolean }
  /** True when messages whose dataset has crossed a limit are dropped. */
  leavesOutLimited?: boolean
  /** Set when the batch may have been sent before, by a run that has ended: since when, in epoch milliseconds. */
  mayBeStoredSinceMs?: number | undefined
  /** Set for events that have waited for the decision about their traces: how they arrived, and the position of their rule. */
  waited?: { protocol: string; after: number } | undefined
}

export function openIntake(world: IntakeWorld, options: IntakeOptions): Intake {
  const pool = options.pool ?? openPool({ log: world.log })
  const budget = new MemoryBudget(options.bytesMax)
  const refusals = new Refusals(world.log)
  const means = { world, options, pool, budget, refusals }
  const rawHandler = (named: Receiver, action = `ingestion.${named.name}`): RawHandler => ({
    action,
    permission: 'events_write',
    publicReply: (head) => {
      const route = findRoute(named, head)
      return route?.isPublic ? route.probe?.(requestOf(head, route, '', options), contextOf(means, head, '')) : undefined
    },
    handle: (call) => handle(means, chosenOf(named, call.head), call),
    replyToFailure: (head, failure, correlationId, actor) => {
      const receiver = chosenOf(named, head)
      const route = findRoute(receiver, head)
      if (actor && !route?.probe) {
        const reason = requestReasonOf(failure)
        new PostAccounting(world.ledger, { actor, protocol: receiver.name }).noteRefused(failure, reason)
        refusals.note(actor, receiver.name, reason, failure)
      }
      const context = contextOf(means, head, actor?.identity.id ?? '')
      return receiver.reply(requestOf(head, route, correlationId, options), { kind: 'refused', failure }, undefined, context)
    },
  })
  const all = receivers.map((receiver) => ({ receiver, rawHandler: rawHandler(receiver) }))
  return {
    rawHandler: rawHandler,
    findRawHandler: (head, known) => {
      const found = all.find(({ receiver }) => isMatch(findRoute(receiver, head), head, known))
      if (known || (found && found.receiver !== native)) return found?.rawHandler
      const claimant = claimantOf(head)
      return (all.find(({ receiver }) => receiver === claimant) ?? found)?.rawHandler
    },
    reserve: (actor) => budget.open(`${actor.orgId}/${actor.identity.id}`),
    memory: () => ({ bytes: budget.reservedBytes, bytesMax: options.bytesMax }),
    storeMessages: (batch) => storeMessages(means, batch),
    noteRefused: ({ actor, parser }, failure) => {
      new PostAccounting(world.ledger, { actor, protocol: parser.name }).noteRefused(failure)
      refusals.note(actor, parser.name, reasonOf(failure), failure)
    },
    prepare: pool.prepare,
    close: async () => {
      await pool.close()
      refusals.close()
    },
  }
}

/** Separates the rate limit on requests from limits on events. */
const requestReasonOf = (failure: Failure): string => (failure.status === 429 ? 'rate' : reasonOf(failure))

/** Paths for events never equal an API path. Probes yield to API paths, except at the root for clients of the protocol. */
function isMatch(route: ReceiverRoute | undefined, head: RequestHead, known: boolean): boolean {
  if (!route || !known) return route !== undefined
  return route.probe ? head.path === '/' && isSender(head) : true
}

/** True for a shipper that probes the server, and false for a browser or API client. */
function isSender({ headers }: RequestHead): boolean {
  if (headers.accept?.includes('text/html')) return false
  return (
    /^(basic|apikey)\s/i.test(headers.authorization ?? '') ||
    /elastic|logstash|manticore|fluent|vector\//i.test(`${headers['user-agent']} ${headers.accept}`)
  )
}

const findRoute = (receiver: Receiver, { method, path }: RequestHead): ReceiverRoute | undefined =>
  receiver.routes.find(({ methods, tail }) => methods.includes(method) && tail.test(path))

/** Finds the protocol to which a request belongs by its headers or parameters. */
const claimantOf = (head: RequestHead): Receiver | undefined =>
  head.method === 'POST' ? receivers.find((receiver) => receiver.claims?.(head)) : undefined

/** Senders of other protocols may post to the paths of our own: then their headers decide. */
const chosenOf = (named: Receiver, head: RequestHead): Receiver => (named === native ? (claimantOf(head) ?? named) : named)

const NO_DRAINS: DrainSettings = { secrets: [], verify: undefined }

function contextOf({ world, options }: IntakeParts, { headers, query, path }: RequestHead, sender: string): ReplyContext {
  const { acknowledgements, drains = NO_DRAINS, protocolVersion } = options
  return {
    sender,
    nowMs: world.clock.nowMs(),
    credential: credentialStateOf(headers, query, path),
    acknowledgements,
    drains,
    protocolVersion,
  }
}

const CREDENTIAL_HEADERS = ['authorization', 'cookie', 'x-service-api-key', 'proxy-authorization', ...SENDER_KEY_HEADERS]

/** The request as a receiver sees it: the end of its path, without credentials. */
function requestOf(
  head: RequestHead,
  route: ReceiverRoute | undefined,
  correlationId: string,
  { extraKeyHeaders }: IntakeOptions,
): IngestRequestHead {
  const hidden = new Set([...CREDENTIAL_HEADERS, ...extraKeyHeaders])
  const headers = Object.fromEntries(Object.entries(head.headers).filter(([name]) => !hidden.has(name)))
  return {
    path: route?.tail.exec(head.path)?.[0] ?? head.path,
    query: Object.fromEntries(Object.entries(head.query).filter(([name]) => !credentialParameters.has(name))),
    headers: { ...headers, 'x-correlation-id': correlationId },
    contentType: head.headers['content-type'] ?? '',
  }
}

type IntakeParts = { world: IntakeWorld; options: IntakeOptions; pool: WorkerPool; budget: MemoryBudget; refusals: Refusals }
type Call = { actor: Actor; head: RequestHead; body: Readable }

async function handle(means: IntakeParts, receiver: Receiver, { actor, head, body }: Call): Promise<ReceiverReply> {
  const route = findRoute(receiver, head)
  const request = requestOf(head, route, actor.facts.correlationId, means.options)
  const context = contextOf(means, head, actor.identity.id)
  const early = route?.probe?.(request, context) ?? receiver.early?.(request, context)
  if (early) return early
  const hold = means.budget.open(`${actor.orgId}/${actor.identity.id}`)
  const account = new PostAccounting(means.world.ledger, { actor, protocol: receiver.name })
  try {
    const { outcome, parsed } = await storeBody(means, hold, receiver, { actor, head, body, request, account, context })
    return receiver.reply(request, outcome, parsed, context)
  } catch (thrown) {
    account.noteRefused(thrown)
    const failure = failureOf(means, actor, thrown)
    if (thrown instanceof Failure) means.refusals.note(actor, receiver.name, reasonOf(thrown), thrown)
    return receiver.reply(request, { kind: 'refused', failure }, undefined, context)
  } finally {
    hold.release()
  }
}

/** Turns bugs into a retryable failure: on other errors, senders drop their events. */
function failureOf({ world }: Pick<IntakeParts, 'world'>, actor: Actor, thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown
  world.log.error({ err: thrown, correlation_id: actor.facts.correlationId }, 'unexpected error in an ingest request')
  return busy('the service failed unexpectedly; search its log for the correlation id')
}

/** The body is in memory already; what its events need besides is reserved. */
async function storeMessages(
  means: IntakeParts,
  {
    actor,
    parser,
    routing,
    request,
    wireBytes,
    isLost,
    attempts = { isSplit: false },
    leavesOutLimited,
    mayBeStoredSinceMs,
    waited,
  }: MessageBatch,
): Promise<IngestResult> {
  const hold = means.budget.open(`${actor.orgId}/${actor.identity.id}`)
  const account = new PostAccounting(means.world.ledger, { actor, protocol: waited?.protocol ?? parser.name })
  account.wireBytes = wireBytes
  account.isRepeated = attempts.isSplit
  account.willRepeat = (thrown) => !isLost(thrown instanceof Failure ? thrown : busy('the service failed unexpectedly'))
  try {
    hold.reserve(request.body.length + (await splitBytesOf(means.world, actor, request.body.length)))
    const place = withKeyDefaults(routing, actor.eventDefaults)
    return await storePost(means.world, means.pool, {
      actor,
      receiver: parser,
      routing: place,
      request,
      account,
      leavesOutLimited,
      mayBeStoredSinceMs,
      waitedAfter: waited?.after,
    })
  } catch (thrown) {
    const failure = failureOf(means, actor, thrown)
    if (isLost(failure)) {
      account.noteRefused(failure)
      means.refusals.note(actor, parser.name, reasonOf(failure), failure)
    }
    attempts.isSplit ||= account.isSplit
    throw failure
  } finally {
    hold.release()
  }
}

export type IngestResult = { outcome: IngestOutcome; parsed: ParsedSummary | undefined; leftOut?: number }

/** The memory for splitting a body: its events need about as much again, and so do the lines that ingest rules write. */
const splitBytesOf = async (world: IntakeWorld, { orgId }: Actor, bytes: number): Promise<number> =>
  bytes * ((await hasIngestRules(world, orgId)) ? 2 : 1)

type BodyCall = Call & { request: IngestRequestHead; account: PostAccounting; context: ReplyContext }

async function storeBody(
  means: IntakeParts,
  hold: MemoryReservation,
  receiver: Receiver,
  { actor, head, body, request, account, context }: BodyCall,
): Promise<IngestResult> {
  const { world, options, pool } = means
  const routing = withKeyDefaults(readRouting(head, options.extraPrefixes), actor.eventDefaults)
  if (receiver.sliceEnd && encodingOf(head.headers['content-encoding']) === 'detect') {
    return storeSlices(means, hold, receiver, { actor, body, request, account }, routing)
  }
  const arrived = (bytes: number): void => {
    account.wireBytes += bytes
  }
  const { bytes } = await readBody(body, head.headers, {
    limits: receiver.limits,
    ownEncodings: receiver.ownEncodings ?? [],
    checkWire: (wire) => receiver.checkWire?.(request, wire, context),
    reservation: hold,
    arrived,
  })
  if (bytes.length === 0) return { outcome: { kind: 'stored', accepted: 0, rejected: [], total: 0, duplicates: [] }, parsed: undefined }
  hold.reserve(await splitBytesOf(world, actor, bytes.length))
  return storePost(world, pool, { actor, receiver, routing: routing, request: { ...request, body: bytes }, account })
}

type SlicedCall = Pick<BodyCall, 'actor' | 'body' | 'request' | 'account'>

/** Stores a body of any length slice by slice. The answer comes after the last one, so a sender repeats the body if one fails. */
async function storeSlices(
  { world, pool }: IntakeParts,
  hold: MemoryReservation,
  receiver: Receiver,
  { actor, body, request, account }: SlicedCall,
  routing: RoutingRequest,
): Promise<IngestResult> {
  const { sliceEnd = () => 0, limits } = receiver
  let accepted = 0
  let parsed: ParsedSummary | undefined
  for await (const bytes of slicesOf(body, { sliceEnd, reservation: hold, bytesMax: limits.bodyBytes })) {
    hold.reserve(await splitBytesOf(world, actor, bytes.length))
    // Slices that are stored stay stored and accounted for, whatever happens to later ones.
    const ofSlice = account.isSplit ? new PostAccounting(world.ledger, { actor, protocol: receiver.name }) : account
    ofSlice.wireBytes = bytes.length
    try {
      const stored = await storePost(world, pool, { actor, receiver, routing, request: { ...request, body: bytes }, account: ofSlice })
      if (stored.outcome.kind === 'stored') accepted += stored.outcome.accepted
      parsed = stored.parsed
    } catch (thrown) {
      if (ofSlice !== account) ofSlice.noteRefused(thrown)
      throw thrown
    }
  }
  return { outcome: { kind: 'stored', accepted, rejected: [], total: accepted, duplicates: [] }, parsed }
}
