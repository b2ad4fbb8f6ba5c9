/**
 * Runs the proofs by repetition one after another, with a closing line: `npm run nightly [share]`, hours long. A share below 1 runs that part of
 * everything (`npm run nightly 0.02` takes minutes). With the path of a VictoriaLogs program as well, searches are compared with it. Each run uses
 * new seeds, which are printed on failure.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'

type Part = { what: string; args: readonly string[]; command?: string; env?: Record<string, string> }
type Outcome = 'passed' | 'failed' | 'skipped'

const KILL_ROUNDS = 60
const KILL_ROUND_S = 15
const POWER_CUTS = 25
const SHRED_LINES = 1_000_000
/** Each is evaluated on some hundred events, which makes millions of comparisons. */
const FILTERS = 20_000
const DEEP_FILTERS = 2_000
const SHAPES = 100_000
const DATASETS = 10_000
const META_KILLS = 40
const ROLLING_RESTARTS = 10
/** Each of the seven kinds three times. */
const TROUBLES = 21
const SEARCHED_EVENTS = 20_000_000
/** Of pods and of text lines. */
const IRREGULAR_EVENTS = 2_000_000

const root = resolve(import.meta.dirname, '../..')
const [shareText = '1', victoriaLogs] = process.argv.slice(2)
const share = Number(shareText)
if (!(share > 0)) throw new Error('the share is a number above 0: npm run nightly 0.02')
const compared = victoriaLogs === undefined ? [] : ['--victorialogs', victoriaLogs]
const times = (whole: number): string => String(Math.max(1, Math.round(whole * share)))
const seed = String(Date.now() % 2 ** 31)
// Long runs are the purpose: no timeout for tests.
const testOf = (...files: string[]): string[] => ['node_modules/vitest/vitest.mjs', 'run', ...files, '--testTimeout=0']

const parts: readonly Part[] = [
  { what: 'kills under load', args: ['test/programs/kill-loop.ts', times(KILL_ROUNDS), String(KILL_ROUND_S), seed] },
  {
    what: 'rolling restarts of three processes behind a proxy',
    args: testOf('test/journeys/rolling-restarts.test.ts'),
    env: { DENDRO_TEST_RESTARTS: times(ROLLING_RESTARTS) },
  },
  {
    what: 'troubles of three processes: kills, stalls, lost answers, restarts, cut connections',
    args: testOf('test/journeys/troubles.test.ts'),
    env: { DENDRO_TEST_TROUBLES: times(TROUBLES), DENDRO_TEST_SEED: seed },
  },
  { what: 'power cuts under the event store', args: ['test/programs/power-cut.ts', times(POWER_CUTS)] },
  {
    what: 'power cuts under the metadata store',
    args: testOf('test/journeys/meta-power-cut.test.ts'),
    env: { DENDRO_TEST_CUTS: times(POWER_CUTS) },
  },
  { what: 'lines split like the reference', args: ['bench/shred-nightly.ts', times(SHRED_LINES), seed] },
  {
    what: 'filters that both evaluators agree on',
    args: testOf('test/filters-agree.test.ts'),
    env: { DENDRO_TEST_FILTERS: times(FILTERS), DENDRO_TEST_SEED: seed },
  },
  {
    what: 'deep filters that both evaluators agree on',
    args: testOf('test/filters-agree.test.ts'),
    env: { DENDRO_TEST_FILTERS: times(DEEP_FILTERS), DENDRO_TEST_DEPTH: '8', DENDRO_TEST_SEED: seed },
  },
  {
    what: 'a hundred thousand shapes and ten thousand datasets',
    args: testOf('test/many-shapes.test.ts'),
    env: { DENDRO_TEST_SHAPES: String(SHAPES), DENDRO_TEST_DATASETS: String(DATASETS) },
  },
  { what: 'searches of 22 million events', args: ['bench/search.ts', '--events', times(SEARCHED_EVENTS), '--rounds', '2', ...compared] },
  {
    what: 'searches of events of pods',
    args: ['bench/search.ts', '--set', 'kubernetes', '--events', times(IRREGULAR_EVENTS), '--rounds', '2', ...compared],
  },
  {
    what: 'searches of text lines',
    args: ['bench/search.ts', '--set', 'text', '--events', times(IRREGULAR_EVENTS), '--rounds', '2', ...compared],
  },
  {
    what: 'kills of the metadata store under writes',
    args: testOf('server/src/meta/kill.test.ts'),
    env: { DENDRO_TEST_KILLS: times(META_KILLS) },
  },
  {
    what: 'what holds for random cases, with new ones, the search for every substring of the test lines, clients of foreign generators, and by axe the whole API reference and all pages while they load',
    args: testOf(
      'api/',
      'language/',
      'server/',
      'cli/',
      'web/',
      'test/line-expressions.test.ts',
      'test/clients/foreign-clients.test.ts',
      'test/web/reference.test.ts',
      'test/web/states.test.ts',
    ),
    env: { DENDRO_TEST_SEED: seed, DENDRO_TEST_ALL: '1' },
  },
  {
    what: 'the metadata store, the features and all contract laws on a PostgreSQL server of the system',
    command: '.ci/with-postgres',
    args: [
      process.execPath,
      ...testOf('server/src/meta', 'server/src/resources', 'test/contract.test.ts', 'test/contract/'),
      '--exclude',
      '**/meta/{embedded,kill,dump,doctor,lock}.test.ts',
    ],
    env: { DENDRO_TEST_ALL: '1' },
  },
  {
    what: 'cold storage and backups on another S3 store, from PyPI or named in DENDRO_TEST_S3',
    command: '.ci/with-s3',
    args: [
      process.execPath,
      ...testOf(
        'server/src/events/store/storage-policy.test.ts',
        'server/src/events/tiers',
        'server/src/resources/data/cold-storage',
        'test/journeys/backups.test.ts',
      ),
    ],
  },
  {
    what: 'a live cluster of ClickHouse servers, whose address is in DENDRO_TEST_CLUSTER',
    args: testOf('test/live-cluster.test.ts'),
  },
]

const outcomes: Outcome[] = []
for (const part of parts) outcomes.push(await run(part))
const count = (outcome: Outcome): number => outcomes.filter((one) => one === outcome).length
say(`\nnightly: ${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`)
process.exitCode = count('failed') === 0 ? 0 : 1

async function run({ what, args, env, command = process.execPath }: Part): Promise<Outcome> {
  const startedMs = performance.now()
  say(`\n== ${what}: ${command} ${args.join(' ')}`)
  const child = spawn(command, args, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  let end = ''
  child.stdout.on('data', (bytes: Buffer) => {
    process.stdout.write(bytes)
    end = (end + bytes.toString('latin1')).slice(-1_000)
  })
  const [code] = await once(child, 'close')
  const outcome = code !== 0 ? 'failed' : hasRun(end) ? 'passed' : 'skipped'
  say(`== ${what}: ${outcome} in ${((performance.now() - startedMs) / 60_000).toFixed(1)} min`)
  return outcome
}

/** A part that cannot run, such as without root, has no passed tests and does not fail. */
function hasRun(end: string): boolean {
  const passed = end.match(/(\d+) passed/g)?.at(-1)
  return passed === undefined || Number.parseInt(passed, 10) > 0
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
