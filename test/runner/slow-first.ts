import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The files that take longest, begun first: begun last, one of them would keep a worker busy while the others have nothing left. Files that
 * use the processors (browser, engine) and files that mostly wait (kills, restarts) take turns, so that one kind fills the pauses of the other.
 */
const SLOW = [
  'test/web/states.test.ts',
  'test/contract.test.ts',
  'test/journeys/start.test.ts',
  'test/web/views.test.ts',
  'server/src/events/store/engine.test.ts',
  'test/web/around.test.ts',
  'test/journeys/exports.test.ts',
  'test/journeys/rolling-restarts.test.ts',
  'test/journeys/stop-in-use.test.ts',
  'server/src/meta/embedded.test.ts',
  'test/web/explore.test.ts',
  'test/journeys/watching.test.ts',
  'test/journeys/hostile-posts.test.ts',
  'server/src/meta/dump.test.ts',
  'server/src/ingest/poison.test.ts',
  'test/journeys/writer-answers.test.ts',
  'test/web/monitors.test.ts',
  'server/src/events/store/events.test.ts',
  'test/contract/records.test.ts',
  'test/journeys/meta-power-cut.test.ts',
  'test/web/pages.test.ts',
  'server/src/events/ledger/rollup.test.ts',
  'test/contract/hidden.test.ts',
  'server/src/reading/text-search/text-search.test.ts',
  'test/clients/log-handlers.test.ts',
  'test/clients/deliveries.test.ts',
  'test/web/rows.test.ts',
  'test/journeys/service.test.ts',
  'server/src/resources/watching/notifications/delivery.test.ts',
  'test/web/settings.test.ts',
  'test/journeys/writer-disk-full.test.ts',
  'test/web/data.test.ts',
  'server/src/resources/access/auth/brute-force.test.ts',
  'test/filters-agree.test.ts',
  'test/journeys/engine-kills.test.ts',
  'test/packages.test.ts',
  'test/web/on-call.test.ts',
  'server/src/resources/queries/live-tail/hanging-store.test.ts',
  'test/clients/python.test.ts',
  'server/src/meta/outage.test.ts',
  'server/src/resources/queries/changes/changes.test.ts',
  'test/journeys/disk-full.test.ts',
  'test/web/reference.test.ts',
  'server/src/events/writer/idempotency.test.ts',
  'test/journeys/writer-kills.test.ts',
  'server/src/resources/queries/exports/exports.test.ts',
  'server/src/resources/queries/search/missing-shard.test.ts',
  'server/src/reading/reading.test.ts',
  'server/src/meta/kill.test.ts',
  'server/src/reading/statistics/minute-rollup.test.ts',
  'test/many-shapes.test.ts',
  'server/src/jobs/jobs.test.ts',
  'server/src/resources/data/retention/removal.test.ts',
  'test/journeys/shippers.test.ts',
  'server/src/reading/safety.test.ts',
  'server/src/http/disconnect.test.ts',
]

/** SlowFirst runs the slow files first, and the others in the usual order. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = SLOW.findIndex((file) => moduleId.endsWith(`/${file}`))
      return at < 0 ? SLOW.length : at
    }
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other))
  }
}
