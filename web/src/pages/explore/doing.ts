import { type Command, useCommands } from '../../parts/commands.tsx'
import { presets } from '../../parts/time-range.ts'
import { tabs, withRange } from './asked.ts'
import type { Asking, PageState } from './asking.ts'
import { comparisons, earlierName } from './compare.ts'
import { noteOf, repeatedSearch } from './history-menu.tsx'
import { pointedValue, useFindKey, useKeys } from './keys.ts'
import { idOf } from './link.ts'
import { type Density, type DetailPlace, densities, detailPlaces } from './reading.ts'
import { askedBefore } from './recent.ts'
import { turned, turns } from './rows-menu.tsx'
import { parametersFrom, useSavedSearches } from './saved.tsx'
import { tabNames } from './view-bar.tsx'

/** useDoing binds what can be done on the page to keys, and offers it by name under Ctrl-K. */
export function useDoing(asking: Asking, page: PageState): void {
  const saved = useSavedSearches(true)
  useKeys(keysOf(asking, page))
  useFindKey(() => findIn(asking))
  useCommands(() => [
    ...commandsOf(asking, page),
    ...(saved.data?.saved_searches ?? []).map((one) => ({
      group: 'Saved',
      name: one.name,
      run: () => asking.change(() => parametersFrom(one)),
    })),
  ])
}

/** findIn opens the bar over the list of events, which may be on another tab. */
function findIn({ tab, show, seeking }: Asking): void {
  if (tab !== 'events') show('events')
  seeking.open()
}

function keysOf({ rows, actions, turnLive, askAgain }: Asking, { input, setHelp }: PageState): Record<string, () => unknown> {
  const at = rows.eventAt(rows.current)
  const { acts } = rows
  const onPointed = (act: (name: string, value: string) => void) => {
    const value = pointedValue()
    if (value) act(value.name, value.value)
    else if (at && !rows.open.has(idOf(at))) acts.toggle(at)
  }
  return {
    '/': () => input.current?.focus(),
    j: () => rows.step(1),
    k: () => rows.step(-1),
    x: () => at && acts.toggle(at),
    enter: () => at && acts.toggle(at),
    escape: rows.close,
    c: () => at && acts.showContext(at),
    p: () => at && acts.pin(at),
    m: () => at && acts.measure(at),
    f: () => onPointed(actions.include),
    'shift f': () => onPointed(actions.exclude),
    l: turnLive,
    t: () => document.querySelector<HTMLElement>('[data-key="t"]')?.click(),
    r: askAgain,
    '?': () => setHelp(true),
  }
}

function commandsOf(asking: Asking, { input, setHelp }: PageState): Command[] {
  const { change, show, askAgain, turnLive, isLive, columns, datasets, setReading, tray } = asking
  return [
    ...tabs.map((one) => ({ group: 'Show', name: tabNames[one], run: () => show(one) })),
    ...comparisons.map((one) => ({
      group: 'Compare',
      name: `with ${earlierName(one, asking.question.range)}`,
      run: () => change((now) => ({ ...now, cmp: one })),
    })),
    { group: 'Do', name: 'Ask again', note: 'r', run: askAgain },
    { group: 'Do', name: isLive ? 'Stop live' : 'Live', note: 'l', run: turnLive },
    { group: 'Do', name: 'Write a query', note: '/', run: () => input.current?.focus() },
    { group: 'Do', name: 'Whole lines again (no columns)', run: columns.reset },
    { group: 'Do', name: 'Find in the loaded rows', note: 'Ctrl F', run: () => findIn(asking) },
    ...(tray.events.length > 0 ? [{ group: 'Do', name: 'Clear the pinned events', run: tray.clear }] : []),
    { group: 'Do', name: 'Keyboard shortcuts', note: '?', run: () => setHelp(true) },
    ...turns.map(({ name, of }) => ({ group: 'Rows', name, run: () => change((now) => turned(now, of)) })),
    ...Object.entries(densities).map(([density, name]) => ({
      group: 'Rows',
      name,
      run: () => setReading({ density: density as Density }),
    })),
    ...Object.entries(detailPlaces).map(([detail, name]) => ({
      group: 'Rows',
      name: `An open event: ${name.toLowerCase()}`,
      run: () => setReading({ detail: detail as DetailPlace }),
    })),
    ...presets.map(({ words, name }) => ({ group: 'Time', name, run: () => change((now) => withRange(now, { words })) })),
    ...askedBefore().map((one) => ({
      group: 'Recent',
      name: one.q,
      note: noteOf(one, asking.zone, Date.now()).slice(0, 2).join(' · '),
      run: () => change((now) => repeatedSearch(now, one)),
    })),
    ...(datasets.data?.datasets ?? []).map(({ id, collection, dataset }) => ({
      group: 'Dataset',
      name: `${collection} / ${dataset}`,
      run: () => change((now) => ({ ...now, d: [id] })),
    })),
  ]
}
