import { type Command, useCommands } from '../../parts/commands.tsx'
import { presets } from '../../parts/time-range.ts'
import { tabs, withRange } from './asked.ts'
import type { Asking, PageState } from './asking.ts'
import { pointedValue, useKeys } from './keys.ts'
import { idOf } from './link.ts'
import { recentQueries } from './recent.ts'
import { askedOf, useSavedSearches } from './saved.tsx'
import { tabNames } from './view-bar.tsx'

/** useDoing binds what can be done on the page to keys, and offers it by name under Ctrl-K. */
export function useDoing(asking: Asking, page: PageState): void {
  const saved = useSavedSearches(true)
  useKeys(keysOf(asking, page))
  useCommands(() => [
    ...commandsOf(asking, page),
    ...(saved.data?.saved_searches ?? []).map((one) => ({
      group: 'Saved',
      name: one.name,
      run: () => asking.change(() => askedOf(one)),
    })),
  ])
}

function keysOf({ rows, found, actions, turnLive, askAgain }: Asking, { input, setHelp }: PageState): Record<string, () => unknown> {
  const at = found[rows.current]
  const onPointed = (act: (name: string, value: string) => void) => {
    const value = pointedValue()
    if (value) act(value.name, value.value)
    else if (at && !rows.open.has(idOf(at))) rows.toggle(idOf(at))
  }
  return {
    '/': () => input.current?.focus(),
    j: () => rows.step(1, found.length),
    k: () => rows.step(-1, found.length),
    x: () => at && rows.toggle(idOf(at)),
    enter: () => at && rows.toggle(idOf(at)),
    c: () => at && rows.showContext(at),
    f: () => onPointed(actions.include),
    'shift f': () => onPointed(actions.exclude),
    l: turnLive,
    t: () => document.querySelector<HTMLElement>('[data-key="t"]')?.click(),
    r: askAgain,
    '?': () => setHelp(true),
  }
}

function commandsOf(asking: Asking, { input, setHelp }: PageState): Command[] {
  const { change, show, askAgain, turnLive, isLive, columns, datasets } = asking
  return [
    ...tabs.map((one) => ({ group: 'Show', name: tabNames[one], run: () => show(one) })),
    { group: 'Do', name: 'Ask again', note: 'r', run: askAgain },
    { group: 'Do', name: isLive ? 'Stop live' : 'Live', note: 'l', run: turnLive },
    { group: 'Do', name: 'Write a query', note: '/', run: () => input.current?.focus() },
    { group: 'Do', name: 'Whole lines again (no columns)', run: columns.reset },
    { group: 'Do', name: 'Keys', note: '?', run: () => setHelp(true) },
    ...presets.map(({ words, name }) => ({ group: 'Time', name, run: () => change((now) => withRange(now, { words })) })),
    ...recentQueries().map((q) => ({ group: 'Recent', name: q, run: () => change((now) => ({ ...now, q })) })),
    ...(datasets.data?.datasets ?? []).map(({ id, collection, dataset }) => ({
      group: 'Dataset',
      name: `${collection} / ${dataset}`,
      run: () => change((now) => ({ ...now, d: [id] })),
    })),
  ]
}
