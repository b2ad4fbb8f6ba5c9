import { parseArgs } from 'node:util'
import { openAsUsed, type ServiceAsUsed } from './search/as-used.ts'
import { measureFirstAndAgain } from './search/first-again.ts'
import { newEventsOf } from './search/new-events.ts'
import { openPeer, type Peer } from './search/peer.ts'
import { measureRecorded } from './search/recorded.ts'
import { measureScreens } from './search/refresh.ts'
import { screensOf } from './search/screens.ts'
import { isSearchedKind, queriesOfKind, type SearchedKind, searchedKinds } from './search/sets.ts'
import { makeStand, openStand, type Stand } from './search/stand.ts'
import { measureUsers } from './search/users.ts'
import { measureWhileIngesting } from './search/while-ingesting.ts'
import { watchMemory } from './stand/process-tree.ts'
import { newDataDir, removeDataDir } from './stand/service.ts'

/** Searches over HTTP, in two stages on the same stores: as users run the service, compared with VictoriaLogs if available, and with a recorder. */
const USAGE = `node bench/search.ts [--stages LIST] [--events N] [--rounds N] [--dir DIR] [--users N] [--only TEXT] [--set KIND] [--samples DIR] [--while-ingesting]
    [--nothing-kept] [--victorialogs PATH]
  --stages           users: the service with its embedded stores, queries and screens first and again, many users, and VictoriaLogs;
                     recorder: a proxy between the service and its event store, which shows the statements, the share of the store, and the
                     overhead, compared with statements by hand (users,recorder)
  --events           how many events there are, about (2000000)
  --rounds           how often each query runs (7); medians are shown
  --dir              where the stores lie; filled by the first run and kept for the next
  --users            how many send queries at once (10)
  --only             only queries with this in their name
  --set              the kind of data: json, kubernetes, text, real or nested (json); screens and users are measured on json
  --samples          a folder of sampled lines and payloads, for real and nested (bench/ingest.ts)
  --nothing-kept     the service keeps no results, so that every query is a first one
  --while-ingesting  three queries while 500 events a second arrive, in the stage of users, on json
  --victorialogs     a VictoriaLogs program to compare with in the stage of users`

const { values: options } = parseArgs({
  options: {
    stages: { type: 'string', default: 'users,recorder' },
    events: { type: 'string', default: '2000000' },
    rounds: { type: 'string', default: '7' },
    dir: { type: 'string' },
    users: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
    set: { type: 'string', default: 'json' },
    samples: { type: 'string' },
    'while-ingesting': { type: 'boolean', default: false },
    'nothing-kept': { type: 'boolean', default: false },
    victorialogs: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const STAGES: readonly string[] = ['users', 'recorder']
const rounds = Number(options.rounds)
const NEWEST_MS = Number(options.events) > 10_000_000 ? 60 : 40
const say = (text: string) => process.stdout.write(`${text}\n`)

async function measure(): Promise<void> {
  const kind = options.set
  if (!isSearchedKind(kind)) throw new Error(`--set must be one of ${searchedKinds.join(', ')}`)
  const stages = options.stages.split(',')
  if (!stages.every((stage) => STAGES.includes(stage))) throw new Error(`--stages must be of ${STAGES.join(', ')}`)
  const dataDir = options.dir ?? (await newDataDir())
  try {
    const filled = await makeStand(Number(options.events), dataDir, kind, options.samples)
    say(
      `node bench/search.ts ${process.argv.slice(2).join(' ')}\n\n${filled.data.lines} events, ${rounds} rounds, medians in ms, means of CPU time in ms`,
    )
    // One stage ends before the next begins, because the event engine locks its directory.
    if (stages.includes('users')) await measureAsUsed(dataDir, filled)
    if (stages.includes('recorder')) await measureStatements(dataDir, kind)
  } finally {
    if (options.dir === undefined) await removeDataDir(dataDir)
  }
}

type Filled = Pick<Stand, 'data' | 'place'>

const queriesOf = ({ data, place }: Filled) => queriesOfKind(data, place).filter(({ name }) => name.includes(options.only))
const screensFor = ({ data, place }: Filled) =>
  data.kind === 'json' ? screensOf(place.logId).filter(({ name }) => name.includes(options.only)) : []

async function measureAsUsed(dataDir: string, filled: Filled): Promise<void> {
  say(`
## As users run it

The service with its embedded stores, without a proxy. "First" is a range that was never requested: each is one millisecond later than the one before,
and the slices of the charts of a screen are one second wider. "Again" is the same range right afterwards. "Warm-up" is one uncounted run before the
rounds: results that are kept by slices of time may serve a part of "first" in later ones.
`)
  const peer = options.victorialogs === undefined ? undefined : await openPeer(options.victorialogs, filled.data)
  try {
    const used = await openAsUsed(dataDir, filled.place, options['nothing-kept'] ? { DENDRO_QUERY_KEPT: '0' } : {})
    await measureService(used, peer, filled).finally(used.service.stop)
  } finally {
    await peer?.close()
  }
}

async function measureService(used: ServiceAsUsed, peer: Peer | undefined, filled: Filled): Promise<void> {
  const { send, place, nextRange } = used
  const queries = queriesOf(filled)
  const screens = screensFor(filled)
  const sayPeaks = watchPeaks()
  await measureFirstAndAgain(used, peer, { queries, rounds, newestMs: NEWEST_MS, events: filled.data.lines })
  if (filled.data.kind === 'json') {
    const post = await newEventsOf(filled.data, used.service)
    if (screens.length > 0) {
      say('\n"Refresh" is the screen ten seconds later, after 100 events of these seconds have arrived.\n')
      await measureScreens(used, post, { screens, rounds })
    }
    say('')
    await measureUsers(send, queries, { logId: place.logId, users: Number(options.users), rounds, nextRange })
    if (options['while-ingesting']) {
      say('')
      await measureWhileIngesting(used, post, { queries, rounds })
    }
  }
  sayPeaks()
}

async function measureStatements(dataDir: string, kind: SearchedKind): Promise<void> {
  say(`
## Where the time goes

A recorder between the service and its event store, which is external to the service then: results are never kept. The recorder's own time counts as
overhead.
`)
  const stand = await openStand(Number(options.events), dataDir, kind, options.samples)
  const sayPeaks = watchPeaks()
  try {
    await measureRecorded(stand, { queries: queriesOf(stand), screens: screensFor(stand), rounds })
    sayPeaks()
  } finally {
    await stand.close()
  }
}

function watchPeaks(): () => void {
  const peakOf = watchMemory(process.pid)
  return () => {
    const others = [...peakOf().peaks].filter(([name]) => name !== '' && name !== 'search.ts')
    say(`\npeak MB: ${others.map(([name, mb]) => `${name} ${mb.toFixed(0)}`).join(', ')}`)
  }
}

if (options.help) say(USAGE)
else await measure()
