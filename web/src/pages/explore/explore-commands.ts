import type { Dataset, SavedSearch } from '@dendro/api'
import { fullName } from '../../parts/datasets/datasets.ts'
import { paramsOfSearch } from '../../parts/query/search-details.ts'
import { PAGE, searchOf } from '../../parts/records/pages.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { type Command, useCommands } from '../../parts/shell/commands.tsx'
import { presets } from '../../parts/time/time-range.ts'
import { eventId } from './events/detail/event-link.ts'
import { type Density, type DetailPlacement, densities, detailPlacements } from './events/list/row-options.ts'
import { rowToggles, toggled } from './events/list/rows-menu.tsx'
import { tabs, withRange } from './explore-params.ts'
import type { ExploreState, PageState } from './explore-state.ts'
import { useFindShortcut, useShortcuts, valueAtPointer } from './keyboard.ts'
import { paramsOfRecent, recentQueryNotes } from './query/history-menu.tsx'
import { recentQueries } from './query/recent-queries.ts'
import { useSavedSearches } from './query/saved-searches.tsx'
import { comparisonName, comparisons } from './time/compare.ts'
import { tabNames } from './view-bar.tsx'

/** Binds the actions of the page to keys and adds them to the command palette. */
export function useExploreCommands(state: ExploreState, page: PageState): void {
  const client = useClient()
  const saved = useSavedSearches('')
  useShortcuts(shortcutsOf(state, page))
  useFindShortcut(() => openFind(state))
  useCommands(
    () => [...commandsOf(state, page), ...saved.records.map((one) => searchCommand(state, one))],
    async (words, signal) => {
      const query = { ...searchOf(words), sort: 'name' as const, limit: PAGE }
      const [datasets, searches] = await Promise.all([
        state.firstDatasets.isWhole ? [] : client.datasets.list({ query, signal }).then((found) => found.datasets),
        saved.hasNextPage ? client.savedSearches.list({ query, signal }).then((found) => found.saved_searches) : [],
      ])
      return [...searches.map((one) => searchCommand(state, one)), ...datasets.map((dataset) => datasetCommand(state, dataset))]
    },
  )
}

const searchCommand = ({ change }: ExploreState, { name, search_details }: SavedSearch): Command => ({
  group: 'Saved',
  name,
  run: () => change(() => paramsOfSearch(search_details)),
})

const datasetCommand = ({ change }: ExploreState, dataset: Dataset): Command => ({
  group: 'Dataset',
  name: fullName(dataset),
  run: () => change((now) => ({ ...now, d: [dataset.id] })),
})

/** Opens the find bar of the event list; another tab may be open. */
function openFind({ tab, show, find }: ExploreState): void {
  if (tab !== 'events') show('events')
  find.open()
}

function shortcutsOf(
  { rows, actions, toggleLive, refresh, undo, isLive, live }: ExploreState,
  { input, setHelp }: PageState,
): Record<string, () => unknown> {
  const currentEvent = rows.eventAt(rows.current)
  const { rowActions } = rows
  const onValueAtPointer = (act: (name: string, value: string) => void) => {
    const value = valueAtPointer()
    if (value) act(value.name, value.value)
    else if (currentEvent && !rows.open.has(eventId(currentEvent))) rowActions.toggle(currentEvent)
  }
  return {
    '/': () => input.current?.focus(),
    j: () => rows.step(1),
    k: () => rows.step(-1),
    x: () => currentEvent && rowActions.toggle(currentEvent),
    enter: () => currentEvent && rowActions.toggle(currentEvent),
    escape: rows.close,
    c: () => currentEvent && rowActions.showContext(currentEvent),
    p: () => currentEvent && rowActions.pin(currentEvent),
    m: () => currentEvent && rowActions.measureFrom(currentEvent),
    f: () => onValueAtPointer(actions.include),
    'shift f': () => onValueAtPointer(actions.exclude),
    l: toggleLive,
    'shift l': () => isLive && live.hold(!live.isHeld),
    u: undo,
    t: () => document.querySelector<HTMLElement>('[data-key="t"]')?.click(),
    r: refresh,
    '?': () => setHelp(true),
  }
}

function commandsOf(state: ExploreState, { input, setHelp }: PageState): Command[] {
  const { change, undo, show, refresh, toggleLive, isLive, columns, firstDatasets, setRowOptions, pinned } = state
  return [
    ...tabs.map((one) => ({ group: 'Show', name: tabNames[one], run: () => show(one) })),
    ...comparisons.map((one) => ({
      group: 'Compare',
      name: `with ${comparisonName(one, state.query.range)}`,
      run: () => change((now) => ({ ...now, cmp: one })),
    })),
    { group: 'Actions', name: 'Refresh', note: 'r', run: refresh },
    { group: 'Actions', name: 'Undo the last change', note: 'u', run: undo },
    { group: 'Actions', name: isLive ? 'Stop live' : 'Start live', note: 'l', run: toggleLive },
    { group: 'Actions', name: 'Edit the query', note: '/', run: () => input.current?.focus() },
    { group: 'Actions', name: 'Reset columns', run: columns.reset },
    { group: 'Actions', name: 'Find in loaded rows', note: 'Ctrl F', run: () => openFind(state) },
    ...(pinned.events.length > 0 ? [{ group: 'Actions', name: 'Clear pinned events', run: pinned.clear }] : []),
    { group: 'Actions', name: 'Keyboard shortcuts', note: '?', run: () => setHelp(true) },
    ...rowToggles.map(({ name, param }) => ({ group: 'Rows', name, run: () => change((now) => toggled(now, param)) })),
    ...Object.entries(densities).map(([density, name]) => ({
      group: 'Rows',
      name,
      run: () => setRowOptions({ density: density as Density }),
    })),
    ...Object.entries(detailPlacements).map(([detail, name]) => ({
      group: 'Rows',
      name: `Event details: ${name.toLowerCase()}`,
      run: () => setRowOptions({ detail: detail as DetailPlacement }),
    })),
    ...presets.map(({ words, name }) => ({ group: 'Time', name, run: () => change((now) => withRange(now, { words })) })),
    ...recentQueries().map((one) => ({
      group: 'Recent',
      name: one.q,
      note: recentQueryNotes(one, state.zone, Date.now()).slice(0, 2).join(' · '),
      run: () => change((now) => paramsOfRecent(now, one)),
    })),
    ...firstDatasets.records.map((dataset) => datasetCommand(state, dataset)),
  ]
}
