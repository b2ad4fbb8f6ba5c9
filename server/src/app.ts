import type { FastifyInstance } from 'fastify'
import { type Certificates, openCertificates, renewals } from './certificates.ts'
import type { Config } from './config.ts'
import { firstStart } from './first-start.ts'
import { openBaseUrl } from './http/base-url.ts'
import { openHttp } from './http/http.ts'
import { openInnerCalls } from './http/inner-calls.ts'
import { type Meter, openMeter } from './http/measure.ts'
import type { Routes } from './http/mount.ts'
import type { WebFiles } from './http/pages/web-app/files.ts'
import { RateLimiter, senderRule, type WindowStore } from './http/rate-limit.ts'
import { openIdentity } from './identify.ts'
import { openIntake } from './ingest/intake/intake.ts'
import { type Listeners, openListeners } from './ingest/listeners/listeners.ts'
import { watchListeners, withListeners } from './ingest/listeners/watch.ts'
import { ReaderPlaces } from './ingest/parquet/reader-places.ts'
import { openAcknowledgements } from './ingest/receivers/hec/acknowledgement.ts'
import { openRehydrating } from './ingest/rehydration/rehydrating.ts'
import { startSources } from './ingest/sources/sources.ts'
import { tailSampling } from './ingest/tail-sampling/tail-sampling.ts'
import { releaseDeadLeases, startWorker } from './jobs/jobs.ts'
import type { Secret } from './kernel/secret.ts'
import { PeriodChoice } from './lines/layout/periods.ts'
import { giveBackToWindow, takeFromWindow } from './meta/counters.ts'
import type { OpenWorld } from './open-world.ts'
import { openSpanDelivery, type SpanDelivery } from './outgoing/span-delivery.ts'
import { ApiKeyUses } from './resources/access/api-keys/api-keys.ts'
import { auditActorOf, recordRefusal } from './resources/access/audit/audit.ts'
import { SessionUses } from './resources/access/auth/auth.ts'
import { Heartbeats } from './resources/data/datasets/datasets.ts'
import { LimitMeter } from './resources/data/limits/limits.ts'
import { ParserCounts } from './resources/data/parsers/parsers.ts'
import { LiveTails } from './resources/queries/live-tail/live-tail.ts'
import { openSearches } from './resources/queries/search/search.ts'
import { openBackupWatch, withBackups } from './resources/service/backups/backups.ts'
import { openCanaryWatch, withCanary } from './resources/service/canary/canary.ts'
import { openHealth, watchStores } from './resources/service/health/health.ts'
import { watchWork } from './resources/service/metrics/metrics.ts'
import { allRoutes } from './routes.ts'
import { type BackgroundWork, type Chore, flushes, presence, startChores, sweeps, workOf } from './work.ts'
import type { World } from './world.ts'

/** The part of DENDRO_MEMORY for request bodies that are being read and split. */
const BODIES_SHARE = 1 / 8
/** The part of DENDRO_MEMORY for messages of listeners that wait to be stored. */
const MESSAGES_SHARE = 1 / 32

export type App = {
  world: World
  http: FastifyInstance
  certificates: Certificates
  listeners: Listeners
  firstKey: Secret | undefined
  /** Says on `/ready` that the process is about to stop. Until `close`, it serves requests as before. */
  stopping(): void
  /** Gets ready for posts, which a process does once it listens. */
  prepare(): void
  close(): Promise<void>
}

const ADDRESSES_EVERY_MS = 10_000

/** Reads databases of addresses again that have been replaced. */
const addressRenewals = ({ addressFiles, log }: OpenWorld): readonly Chore[] =>
  addressFiles
    ? [
        {
          everyMs: ADDRESSES_EVERY_MS,
          failed: 'a changed database of addresses cannot be used; the former ones stay in use',
          run: async () => {
            if (addressFiles.renew())
              log.info({ files: addressFiles.current.map(({ name }) => name) }, 'changed databases of addresses are in use')
          },
        },
      ]
    : []

/** Sends spans of requests where the operator wants them. */
function openOwnSpans(world: OpenWorld, config: Config, meter: Meter): SpanDelivery | undefined {
  const { DENDRO_TRACES_URL: url, DENDRO_TRACES_KEY: key } = config
  if (url === undefined) return undefined
  const spans = openSpanDelivery({ url, key, version: world.deployment.version, instance: world.ids.uuid() }, world)
  meter.gauges('dendro_own_spans_total', 'Spans of the requests of this process since its start', ['outcome'], () => [
    { labels: { outcome: 'delivered' }, value: spans.delivered },
    { labels: { outcome: 'lost' }, value: spans.lost },
  ])
  return spans
}

/** Wires the service: first organization, routes, HTTP server, background work. */
export async function openApp(
  world: OpenWorld,
  config: Config,
  work: BackgroundWork = workOf(world, config.DENDRO_ROLES),
  web: WebFiles | undefined = undefined,
): Promise<App> {
  // Wrong files stop the start before anything is open.
  const certificates = openCertificates(config)
  const { firstKey } = await firstStart(world)
  const present = await presence(world, work)
  const windows: WindowStore = {
    take: (request) => takeFromWindow(world.meta, request),
    giveBack: (request) => giveBackToWindow(world.meta, request),
  }
  const limiter = new RateLimiter(config.DENDRO_RATE_LIMIT, windows, world.clock)
  const senderLimiter = new RateLimiter(senderRule(config.DENDRO_RATE_LIMIT), windows, world.clock)
  const meter = openMeter()
  watchStores(world, meter)
  const heartbeats = new Heartbeats(world)
  const beat = (logId: string, nowMs: number) => heartbeats.beat(logId, nowMs)
  const parserCounts = new ParserCounts(world)
  const limits = new LimitMeter(world)
  const intake = openIntake(
    { ...world, beat, parsed: (parsed, nowMs) => parserCounts.record(parsed, nowMs), periods: new PeriodChoice(), limits },
    {
      bytesMax: Math.floor(config.DENDRO_MEMORY * BODIES_SHARE),
      extraPrefixes: config.DENDRO_EXTRA_ROUTING_PREFIXES,
      extraKeyHeaders: config.DENDRO_EXTRA_KEY_HEADERS,
      acknowledgements: config.DENDRO_HEC_ACKNOWLEDGEMENTS ? openAcknowledgements() : undefined,
      protocolVersion: config.DENDRO_ELASTICSEARCH_VERSION,
      drains: { secrets: config.DENDRO_VERCEL_SECRETS, verify: config.DENDRO_VERCEL_VERIFY },
    },
  )
  watchWork(world, intake.memory, meter)
  const keyUses = new ApiKeyUses(world)
  const sessionUses = new SessionUses(world)
  const identity = openIdentity(world, keyUses, sessionUses)
  const listeners = openListeners({
    ids: world.ids,
    log: world.log,
    intake,
    identify: identity.identify,
    count: (actor) => senderLimiter.take(`${actor.orgId}/${actor.identity.id}`),
    extraPrefixes: config.DENDRO_EXTRA_ROUTING_PREFIXES,
    extraKeyHeaders: config.DENDRO_EXTRA_KEY_HEADERS,
    bytesMax: Math.floor(config.DENDRO_MEMORY * MESSAGES_SHARE),
  })
  watchListeners(listeners, meter)
  const searches = openSearches(world)
  const tails = new LiveTails(world)
  // By default any program on this machine counts as a proxy. Only proxies that the operator named may decide where links lead.
  const { networks, isNamed } = config.DENDRO_TRUSTED_PROXIES
  const backups = openBackupWatch(world, meter)
  const canary = openCanaryWatch(world, meter)
  const health = withCanary(withBackups(withListeners(openHealth(world), listeners, world), backups), canary)
  let isStopping = false
  const innerCalls = openInnerCalls({ routes: () => routes, exceptions: identity.exceptions, limiter })
  const routes: readonly Routes[] = allRoutes(world, {
    health,
    backups,
    canary,
    isStopping: () => isStopping,
    meter,
    intake,
    limits,
    searches,
    tails,
    web,
    innerCalls,
  })
  const spans = openOwnSpans(world, config, meter)
  const http = openHttp({
    spans: spans && { sink: (span) => spans.add(span), share: config.DENDRO_TRACES_SHARE },
    ...identity,
    routes,
    denied: (actor, path) => recordRefusal(world, auditActorOf(actor), { entity: { type: 'path', id: path } }),
    limiter,
    senderLimiter,
    meter,
    extraKeyHeaders: config.DENDRO_EXTRA_KEY_HEADERS,
    baseUrl: openBaseUrl({ publicUrl: config.DENDRO_PUBLIC_URL, host: config.DENDRO_HOST, proxies: isNamed ? networks : [] }),
    trustedProxies: networks,
    certificate: certificates.ofHttp,
    roles: config.DENDRO_ROLES,
    ids: world.ids,
    log: world.log,
  })
  http.server.on('listening', () => {
    for (const address of http.addresses()) if (typeof address !== 'string') world.listensOn(address.port)
  })
  const chores = startChores(world, [
    ...present,
    ...renewals(certificates, world.log),
    ...addressRenewals(world),
    ...flushes({ limiters: [limiter, senderLimiter], heartbeats, keyUses, sessionUses, parserCounts }),
    ...sweeps(world, work, { windowMs: config.DENDRO_RATE_LIMIT.windowMs, searches, tails }),
  ])
  // The lock on the data directory already keeps other processes from an embedded store.
  if (world.meta.server) await releaseDeadLeases(world.meta)
  const [directories, parquetPlaces] = [world.deployment.sourceDirectories, new ReaderPlaces(world.clock)]
  const sourceWorld = { ...world, intake, directories, parquetPlaces, queued: { bytes: 0, reopenedAt: new Map() } }
  const rehydrating = work.readsSources ? openRehydrating(sourceWorld) : undefined
  const worker = startWorker(world, rehydrating ? [...work.kinds, rehydrating.kind, tailSampling(sourceWorld)] : work.kinds)
  const loops = work.loops.map((start) => start(world))
  const sources = work.readsSources ? startSources(sourceWorld) : undefined
  return {
    world,
    http,
    certificates,
    listeners,
    firstKey,
    stopping: () => {
      isStopping = true
    },
    prepare: intake.prepare,
    close: async () => {
      tails.stop()
      await Promise.all([
        chores.stop(),
        http.close(),
        listeners.close(),
        sources?.close(),
        worker.close(),
        ...loops.map((loop) => loop.close()),
      ])
      await rehydrating?.close()
      await spans?.close()
      await searches.close()
      await intake.close()
      await chores.flush()
      await world.close(() => worker.giveBack())
    },
  }
}
