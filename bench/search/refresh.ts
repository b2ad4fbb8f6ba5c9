import { printTable } from '../stand/service.ts'
import type { ServiceAsUsed } from './as-used.ts'
import type { PostNew } from './new-events.ts'
import { type Screen, shownAt } from './screens.ts'
import { meanCpuMs, medianMs, type Timed, timed } from './timing.ts'

const REFRESH_MS = 10_000
const NEW_EVENTS = 100
/** New events come this long after the last event of the stand, so that moved ranges do not hold them. */
const NEW_AFTER_MS = 1_000

type Loads = { first: Timed; again: Timed; firstRefresh: Timed; refresh: Timed }

/**
 * Loads each screen in rounds: first, again, and refreshed twice, ten seconds later each time, after 100 events of these seconds have arrived. The first
 * refresh of a chart may keep its slices, of which later ones make use. The warm-up is the round before those that count.
 */
export async function measureScreens(
  used: ServiceAsUsed,
  post: PostNew,
  { screens, rounds }: { screens: readonly Screen[]; rounds: number },
): Promise<void> {
  const { service, send, place, nextRange } = used
  let widerByS = 0
  const load = async ({ load: loadScreen }: Screen): Promise<Loads> => {
    const { byMs } = nextRange()
    widerByS += 1
    const loadAt = (laterMs: number) => timed(service.pid, () => loadScreen(send, shownAt(place, byMs + laterMs, widerByS)))
    const first = await loadAt(0)
    const again = await loadAt(0)
    const refresh = async (laterMs: number) => {
      await post({ fromMs: place.toMs + laterMs - REFRESH_MS + NEW_AFTER_MS, toMs: place.toMs + laterMs }, NEW_EVENTS)
      return loadAt(laterMs)
    }
    return { first, again, firstRefresh: await refresh(REFRESH_MS), refresh: await refresh(2 * REFRESH_MS) }
  }
  const rows: string[][] = []
  for (const screen of screens) {
    const { first: warmUp } = await load(screen)
    const loads: Loads[] = []
    for (let round = 0; round < rounds; round += 1) loads.push(await load(screen))
    const times = (['first', 'again', 'firstRefresh', 'refresh'] as const).map((kind) => loads.map((one) => one[kind]))
    const shownMs = [warmUp.ms, ...times.map(medianMs)].map((ms) => ms.toFixed(1))
    rows.push([screen.name, ...shownMs, ...times.map((some) => meanCpuMs(some).toFixed(1))])
  }
  const loaded = ['first', 'again', 'first refresh', 'refresh']
  printTable(['screen', 'warm-up, ms', ...loaded.map((name) => `${name}, ms`), ...loaded.map((name) => `CPU ${name}`)], rows)
}
