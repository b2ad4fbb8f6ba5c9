import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The files that take half a minute and more, slowest first; started last, one of them would keep one worker busy while the others are idle. */
const SLOW = [
  'test/journeys/exports.test.ts',
  'test/web/pages.test.ts',
  'test/web/views.test.ts',
  'test/web/monitors.test.ts',
  'test/web/around.test.ts',
  'test/web/states.test.ts',
  'test/web/rows.test.ts',
  'server/src/resources/data/retention/removal.test.ts',
  'server/src/reading/line-search.test.ts',
  'test/journeys/writer-answers.test.ts',
  'test/web/explore.test.ts',
  'test/web/data.test.ts',
  'test/journeys/watching.test.ts',
  'server/src/events/store/engine.test.ts',
  'server/src/meta/embedded.test.ts',
  'test/journeys/start.test.ts',
  'test/journeys/hostile-posts.test.ts',
  'test/web/settings.test.ts',
  'test/filters-agree.test.ts',
  'test/journeys/engine-kills.test.ts',
  'test/journeys/service.test.ts',
  'test/journeys/writer-kills.test.ts',
  'test/contract.test.ts',
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
