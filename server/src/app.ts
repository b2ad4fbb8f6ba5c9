import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config.ts'
import { openLedger } from './events/ledger/ledger.ts'
import { openDiskWatch } from './events/store/disk.ts'
import { type EventStore, openEventStore } from './events/store/events.ts'
import { openEventWriter } from './events/writer/writer.ts'
import { openDepot } from './files/open-files.ts'
import { firstStart, foundOrganization } from './first-start.ts'
import { type Actor, type Identified, isUser, type RequestFacts } from './http/actor.ts'
import { openBaseUrl } from './http/base-url.ts'
import type { Credential } from './http/credential.ts'
import { openDoor } from './http/http.ts'
import { type Meter, openMeter } from './http/measure.ts'
import type { Routes } from './http/mount.ts'
import { referenceRoutes } from './http/pages/reference/reference.ts'
import type { WebFiles } from './http/pages/web-app/files.ts'
import { webAppRoutes } from './http/pages/web-app/web-app.ts'
import { RateLimiter, senderRule, type WindowStore } from './http/rate-limit.ts'
import { readForm } from './ingest/detect/forms.ts'
import { type Intake, openIntake } from './ingest/intake/intake.ts'
import { ingestionRoutes } from './ingest/routes.ts'
import { startWorker, takeOver } from './jobs/jobs.ts'
import type { Clock } from './kernel/clock.ts'
import { guardSystemClock, isGuarded } from './kernel/guarded-clock.ts'
import { systemIds } from './kernel/ids.ts'
import { type Log, openLog } from './kernel/log.ts'
import { openBoth } from './kernel/reach.ts'
import type { Secret } from './kernel/secret.ts'
import { openVault } from './kernel/vault.ts'
import { version } from './kernel/version.ts'
import { giveBackToWindow, takeFromWindow } from './meta/counters.ts'
import { openMeta } from './meta/meta.ts'
import { openPostClaims } from './meta/post-claims.ts'
import { followReferenceClock } from './meta/reference-clock.ts'
import { openUsageCounts } from './meta/usage-counts.ts'
import { openMailer } from './outgoing/mail.ts'
import { openModel } from './outgoing/model.ts'
import { openOutgoing } from './outgoing/outgoing.ts'
import { openAdmission } from './reading/admission.ts'
import { queryBoundsOf, queryLimitsOf } from './reading/query-bounds.ts'
import { ApiKeyCallers } from './resources/access/api-keys/api-keys.ts'
import { apiKeyRoutes } from './resources/access/api-keys/routes.ts'
import { recordRefusal, whoIs } from './resources/access/audit/audit.ts'
import { auditRoutes } from './resources/access/audit/routes.ts'
import { identifyToken, KeyGuesses } from './resources/access/auth/auth.ts'
import { authRoutes } from './resources/access/auth/routes.ts'
import { customerRoutes } from './resources/access/customer/routes.ts'
import { encryptionKeyRoutes } from './resources/access/encryption-keys/routes.ts'
import { reachedGroups } from './resources/access/groups/groups.ts'
import { groupRoutes } from './resources/access/groups/routes.ts'
import { accessRoutes, organizationRoutes } from './resources/access/organizations/routes.ts'
import { permissionRoutes } from './resources/access/permissions/routes.ts'
import { policyRoutes } from './resources/access/policies/routes.ts'
import { roleRoutes } from './resources/access/roles/routes.ts'
import { userRoutes } from './resources/access/users/routes.ts'
import { checkAdmin } from './resources/access/users/users.ts'
import { configAssistantRoutes } from './resources/assistants/config-assistant/routes.ts'
import { assistantRoutes } from './resources/assistants/explain/routes.ts'
import { dashboardRoutes, dashboardTemplateRoutes } from './resources/boards/dashboards/routes.ts'
import { widgetRoutes, widgetTemplateRoutes } from './resources/boards/widgets/routes.ts'
import { collectionRoutes } from './resources/data/collections/routes.ts'
import { Heartbeats } from './resources/data/datasets/datasets.ts'
import { datasetRoutes } from './resources/data/datasets/routes.ts'
import { ledgerRoutes } from './resources/data/ledger/routes.ts'
import { LimitMeter } from './resources/data/limits/limits.ts'
import { limitRoutes } from './resources/data/limits/routes.ts'
import { ParserCounts } from './resources/data/parsers/parsers.ts'
import { parserRoutes } from './resources/data/parsers/routes.ts'
import { retentionRoutes, retentionRuleRoutes } from './resources/data/retention/routes.ts'
import { usageRoutes } from './resources/data/usage/routes.ts'
import { analyticsRoutes } from './resources/queries/analytics/routes.ts'
import { contextRoutes } from './resources/queries/context/routes.ts'
import { datasetKeyRoutes } from './resources/queries/dataset-keys/routes.ts'
import { exportRoutes } from './resources/queries/exports/routes.ts'
import { LiveTails } from './resources/queries/live-tail/live-tail.ts'
import { liveTailRoutes } from './resources/queries/live-tail/routes.ts'
import { metricDefinitionRoutes, metricDefinitionTemplateRoutes } from './resources/queries/metric-definitions/routes.ts'
import { patternRoutes } from './resources/queries/patterns/routes.ts'
import { savedSearchRoutes, savedSearchTemplateRoutes } from './resources/queries/saved-searches/routes.ts'
import { searchRoutes } from './resources/queries/search/routes.ts'
import { openSearches, type Searches } from './resources/queries/search/search.ts'
import { timeseriesRoutes } from './resources/queries/timeseries/routes.ts'
import { topKeyRoutes } from './resources/queries/top-keys/routes.ts'
import { type Health, openHealth, watchStores } from './resources/service/health/health.ts'
import { healthRoutes } from './resources/service/health/routes.ts'
import { logRoutes } from './resources/service/logs/routes.ts'
import { metricsRoutes } from './resources/service/metrics/routes.ts'
import { statementRoutes } from './resources/service/statements/routes.ts'
import { tagRoutes } from './resources/service/tags/routes.ts'
import { absentRoutes } from './resources/service/unbuilt/routes.ts'
import { downtimeRoutes } from './resources/watching/downtimes/routes.ts'
import { integrationRoutes } from './resources/watching/integrations/routes.ts'
import { monitorRoutes, monitorTemplateRoutes } from './resources/watching/monitors/routes.ts'
import { notificationRoutes } from './resources/watching/notifications/routes.ts'
import { allWork, sweeps, type Work } from './work.ts'
import type { Deployment, World } from './world.ts'

type Parts = {
  health: Health
  meter: Meter
  intake: Intake
  limits: LimitMeter
  searches: Searches
  tails: LiveTails
  web: WebFiles | undefined
}

const allRoutes = (world: World, { health, meter, intake, limits, searches, tails, web }: Parts): readonly Routes[] => [
  accessRoutes(world),
  analyticsRoutes(world),
  groupRoutes(world),
  organizationRoutes(world, foundOrganization),
  parserRoutes(world, readForm),
  permissionRoutes(),
  policyRoutes(world),
  roleRoutes(world),
  apiKeyRoutes(world),
  assistantRoutes(world),
  auditRoutes(world),
  authRoutes(world),
  collectionRoutes(world),
  dashboardRoutes(world),
  dashboardTemplateRoutes(world),
  datasetRoutes(world),
  downtimeRoutes(world),
  exportRoutes(world),
  customerRoutes(world),
  encryptionKeyRoutes(world),
  statementRoutes(world),
  ...absentRoutes(),
  healthRoutes(world, health),
  ingestionRoutes(intake),
  integrationRoutes(world),
  ledgerRoutes(world),
  limitRoutes(world, limits),
  logRoutes(world),
  metricsRoutes(world, meter),
  referenceRoutes({ version: world.deployment.version, region: world.deployment.region, web, troubles: health.failures }),
  retentionRoutes(world),
  retentionRuleRoutes(world),
  searchRoutes(world, searches),
  datasetKeyRoutes(world),
  savedSearchRoutes(world),
  savedSearchTemplateRoutes(world),
  topKeyRoutes(world),
  patternRoutes(world),
  liveTailRoutes(tails),
  timeseriesRoutes(world),
  metricDefinitionRoutes(world),
  monitorRoutes(world),
  monitorTemplateRoutes(world),
  metricDefinitionTemplateRoutes(world),
  notificationRoutes(world),
  configAssistantRoutes(world),
  contextRoutes(world),
  tagRoutes(world),
  usageRoutes(world),
  userRoutes(world),
  webAppRoutes(web),
  widgetRoutes(world),
  widgetTemplateRoutes(world),
]

/** The engine's part of DENDRO_MEMORY; the rest is for the service itself and what waits in it. */
const ENGINE_SHARE = 0.75
/** The parts of it for bodies that are being read and split, and for events that wait to be stored. */
const BODIES_SHARE = 1 / 8
const WAITING_SHARE = 1 / 16
const IDLE_EVERY_MS = 1_000
const HEARTBEAT_EVERY_MS = 3_000

/** ownPorts are those at which a letter to this machine would reach the service itself or its stores. */
function ownPorts(config: Config, events: EventStore, chosen: ReadonlySet<number>): number[] {
  const stores = [events.url, config.DENDRO_POSTGRES_URL?.reveal()].filter((url) => url !== undefined && URL.canParse(url))
  return [config.DENDRO_PORT, ...chosen, ...stores.map((url) => Number(new URL(url ?? '').port))].filter((port) => port > 0)
}

export type App = { world: World; door: FastifyInstance; firstKey: Secret | undefined; close(): Promise<void> }

/** An OpenWorld is told at which port the service answers: with DENDRO_PORT=0 it is chosen only then. */
export type OpenWorld = World & { answersAt(port: number): void; close(): Promise<void> }

/** openWorld opens both stores and everything else outside the program. */
export async function openWorld(config: Config, given: { clock?: Clock; log?: Log } = {}): Promise<OpenWorld> {
  const log = given.log ?? openLog(config.DENDRO_LOG_LEVEL)
  const clock = given.clock ?? guardSystemClock(log)
  const deps = { clock, log, ids: systemIds }
  const dataDir = config.DENDRO_DATA_DIR
  const admin = adminOf(config)
  const chosen = new Set<number>()
  // Before the stores: what is wrong with a secret or a setting is said at once and leaves nothing open.
  const { vault, depot } = openOwn(config)
  const mailer = openMailer({ url: config.DENDRO_SMTP_URL, from: config.DENDRO_MAIL_FROM })
  const [events, meta] = await openBoth(
    openEventStore(
      { url: config.DENDRO_CLICKHOUSE_URL?.reveal(), dataDir, memoryBytes: Math.floor(config.DENDRO_MEMORY * ENGINE_SHARE) },
      deps,
    ),
    openMeta({ url: config.DENDRO_POSTGRES_URL?.reveal(), dataDir, poolMax: config.DENDRO_POSTGRES_CONNECTIONS }, deps),
  )
  const reference = isGuarded(clock) ? await followReferenceClock(meta, clock, log) : undefined
  const disk = await openDiskWatch(events, dataDir, deps)
  const bounds = { waitingBytesMax: Math.floor(config.DENDRO_MEMORY * WAITING_SHARE), refusal: disk.refusal }
  const closeStores = async (): Promise<void> => {
    await Promise.all([disk.close(), reference?.close()])
    await Promise.all([events.close(), meta.close()])
  }
  // Embedded stores serve one process at a time, which knows by itself what it stores.
  const openClaims = events.engine || meta.server ? undefined : (writerId: string) => openPostClaims(meta, writerId, deps)
  const writer = await openEventWriter(events, { ...deps, openClaims }, bounds).catch(async (cause) => {
    await closeStores()
    throw cause
  })
  const ledger = openLedger(events, deps)
  const usage = openUsageCounts(meta, deps)
  const queryBounds = queryBoundsOf(config)
  return {
    clock,
    log,
    ids: systemIds,
    vault,
    events,
    disk,
    writer,
    ledger,
    meta,
    admission: openAdmission(queryBounds, deps),
    usage,
    depot,
    mailer,
    outgoing: openOutgoing({ allowed: config.DENDRO_WEBHOOK_ALLOW, ownPorts: () => ownPorts(config, events, chosen) }),
    model: openModel(
      { url: config.DENDRO_LLM_URL, key: config.DENDRO_LLM_KEY, name: config.DENDRO_LLM_MODEL },
      { ownPorts: () => ownPorts(config, events, chosen) },
    ),
    deployment: {
      version,
      region: config.DENDRO_REGION,
      publicUrl: config.DENDRO_PUBLIC_URL,
      firstKey: config.DENDRO_BOOTSTRAP_API_KEY,
      admin,
      inactiveAfterMs: config.DENDRO_INACTIVE_AFTER,
      skipsMissingShards: config.DENDRO_MISSING_SHARDS === 'skip',
      queryLimits: queryLimitsOf(config),
      queryBounds,
      retentionDays: config.DENDRO_RETENTION_DAYS,
      monitorsMax: config.DENDRO_MONITORS_MAX,
    },
    answersAt: (port) => void chosen.add(port),
    close: async () => {
      await writer.close()
      await ledger.close()
      await usage.close()
      await depot.close()
      await closeStores()
    },
  }
}

/** openOwn opens what a process has to have in common with the others of its deployment. */
export const openOwn = (config: Config): Pick<World, 'vault' | 'depot'> => ({
  vault: openVault({
    dataDir: config.DENDRO_DATA_DIR,
    masterKey: config.DENDRO_MASTER_KEY ?? config.DENDRO_MASTER_KEY_FILE,
    jwtSecret: config.DENDRO_JWT_SECRET,
  }),
  depot: openDepot(config.DENDRO_EXPORT_URL ?? { kind: 'directory', dir: join(config.DENDRO_DATA_DIR, 'exports') }),
})

/** adminOf is the administrator of the first start; a bad one stops every start, so that nobody relies on it. */
function adminOf(config: Config): Deployment['admin'] {
  const { DENDRO_ADMIN_EMAIL: email, DENDRO_ADMIN_PASSWORD: password } = config
  if (!email && !password) return undefined
  if (!email || !password) throw new Error('DENDRO_ADMIN_EMAIL and DENDRO_ADMIN_PASSWORD belong together')
  checkAdmin({ email, password })
  return { email, password }
}

/** openApp puts the rooms together: the first organisation, the routes, the door, the work behind it. */
export async function openApp(
  world: OpenWorld,
  config: Config,
  work: Work = allWork(world),
  web: WebFiles | undefined = undefined,
): Promise<App> {
  const { firstKey } = await firstStart(world)
  const windows: WindowStore = { take: (ask) => takeFromWindow(world.meta, ask), giveBack: (ask) => giveBackToWindow(world.meta, ask) }
  const limiter = new RateLimiter(config.DENDRO_RATE_LIMIT, windows, world.clock)
  const senderLimiter = new RateLimiter(senderRule(config.DENDRO_RATE_LIMIT), windows, world.clock)
  const callers = new ApiKeyCallers(world)
  const guesses = new KeyGuesses(world)
  const meter = openMeter()
  watchStores(world, meter)
  const heartbeats = new Heartbeats(world)
  const beat = (logId: string, nowMs: number) => heartbeats.beat(logId, nowMs)
  const parserCounts = new ParserCounts(world)
  const limits = new LimitMeter(world)
  const intake = openIntake(
    { ...world, beat, parsed: (parsed, nowMs) => parserCounts.note(parsed, nowMs), limits },
    {
      bytesMax: Math.floor(config.DENDRO_MEMORY * BODIES_SHARE),
      extraPrefixes: config.DENDRO_EXTRA_ROUTING_PREFIXES,
      extraKeyHeaders: config.DENDRO_EXTRA_KEY_HEADERS,
    },
  )
  const searches = openSearches(world)
  const tails = new LiveTails(world)
  // That any program of this machine may say who calls was nobody's decision: it must not lead links elsewhere.
  const { networks, isNamed } = config.DENDRO_TRUSTED_PROXIES
  const door = openDoor({
    routes: allRoutes(world, { health: openHealth(world), meter, intake, limits, searches, tails, web }),
    identify: (credential, facts) => identify(world, { callers, guesses }, credential, facts),
    exceptions: { self: async (actor, params) => isSelf(actor, params), member: (actor, params) => isMember(world, actor, params) },
    denied: (actor, path) => recordRefusal(world, whoIs(actor), { entity: { type: 'path', id: path } }),
    limiter,
    senderLimiter,
    meter,
    extraKeyHeaders: config.DENDRO_EXTRA_KEY_HEADERS,
    baseUrl: openBaseUrl({ publicUrl: config.DENDRO_PUBLIC_URL, host: config.DENDRO_HOST, proxies: isNamed ? networks : [] }),
    trustedProxies: networks,
    ids: world.ids,
    log: world.log,
  })
  door.server.on('listening', () => {
    for (const at of door.addresses()) if (typeof at !== 'string') world.answersAt(at.port)
  })
  const chores = [
    every(IDLE_EVERY_MS, world.log, 'unused requests could not be given back', () =>
      Promise.all([limiter.giveBackIdle(), senderLimiter.giveBackIdle()]),
    ),
    every(HEARTBEAT_EVERY_MS, world.log, 'heartbeats of datasets could not be written', () => heartbeats.flush()),
    every(HEARTBEAT_EVERY_MS, world.log, 'counts of parsers could not be written', () => parserCounts.flush()),
    ...sweeps(world, work, { windowMs: config.DENDRO_RATE_LIMIT.windowMs, searches, tails }).map(({ everyMs, failed, chore }) =>
      every(everyMs, world.log, failed, chore),
    ),
  ]
  // A store of our own is for one process at a time: the lock on the data directory keeps others away.
  if (world.meta.server) await takeOver(world.meta)
  const workers = [startWorker(world, work.kinds), ...work.loops.map((start) => start(world))]
  return {
    world,
    door,
    firstKey,
    close: async () => {
      for (const stop of chores) stop()
      await Promise.all([door.close(), ...workers.map((worker) => worker.close())])
      await intake.close()
      await heartbeats.flush().catch((err) => world.log.warn({ err }, 'heartbeats of datasets could not be written'))
      await parserCounts.flush().catch((err) => world.log.warn({ err }, 'counts of parsers could not be written'))
      await Promise.all([limiter.giveBackIdle(0), senderLimiter.giveBackIdle(0)]).catch((err) =>
        world.log.warn({ err }, 'unused requests could not be given back'),
      )
      await world.close()
    },
  }
}

/** every repeats a chore of this process until the function it gives back is called; a failed turn is logged and the next one comes. */
function every(ms: number, log: Log, failed: string, chore: () => Promise<unknown>): () => void {
  const timer = setInterval(() => void chore().catch((err) => log.warn({ err }, failed)), ms)
  timer.unref()
  return () => clearInterval(timer)
}

type Recognition = { callers: ApiKeyCallers; guesses: KeyGuesses }

/** identify finds the caller, at once where his key is remembered; whoever shows one wrong credential after another waits for the answer. */
function identify(
  world: World,
  { callers, guesses }: Recognition,
  credential: Credential,
  facts: RequestFacts,
): Identified | Promise<Identified | undefined> {
  const shown = credential.kind === 'key' ? credential.key : credential.token
  const found = credential.kind === 'key' ? callers.identify(shown) : identifyToken(world, shown)
  return found instanceof Promise ? orSlowed(found) : found

  async function orSlowed(finding: Promise<Identified | undefined>): Promise<Identified | undefined> {
    const identified = await finding
    if (!identified) await guesses.wrong(facts.address, world.vault.hashOf('attempt', shown).toString('base64'))
    return identified
  }
}

/** isSelf reports whether the path names the caller himself. */
function isSelf(actor: Actor, params: Record<string, string>): boolean {
  const named = params.userId ?? params.memberId ?? (params.entityType === 'user' ? params.entityId : undefined)
  return named !== undefined && isUser(actor, named.toLowerCase())
}

/** isMember reports whether the caller reaches the group of the path through his memberships. */
async function isMember(world: World, actor: Actor, params: Record<string, string>): Promise<boolean> {
  if (actor.identity.type !== 'USER_ID' || params.groupId === undefined) return false
  return (await reachedGroups(world, actor.orgId, actor.identity.id)).has(params.groupId.toLowerCase())
}
