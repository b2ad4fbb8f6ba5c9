import type { Event } from '@dendro/api'
import { ApiFailure } from '@dendro/api/client'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo, useRef, useState } from 'react'
import { DatasetPicker } from '../../parts/dataset-picker.tsx'
import { FailureNote } from '../../parts/failure.tsx'
import { bytes, count } from '../../parts/numbers.ts'
import { TimePicker } from '../../parts/time-picker.tsx'
import type { Zone } from '../../parts/time-range.ts'
import { Button } from '../../ui/button.tsx'
import { type Asked, rangeOf, tabs, withRange } from './asked.ts'
import { isNotValue, isValue, withClause } from './clauses.ts'
import { ContextView } from './context-view.tsx'
import { NothingFound } from './empty.tsx'
import { EventList, idOf } from './event-list.tsx'
import type { RowLook } from './event-row.tsx'
import { FieldList } from './field-list.tsx'
import { Histogram } from './histogram.tsx'
import { useKeys } from './keys.ts'
import { searchedWords } from './line-text.ts'
import { useLive } from './live.ts'
import { PatternList } from './pattern-list.tsx'
import { QueryLine } from './query-line.tsx'
import { type Question, useBars, useDatasets, useEvents, useFields, usePatterns } from './questions.ts'
import { Shortcuts } from './shortcuts.tsx'
import type { ValueActions } from './value-menu.tsx'

const ZONE_KEY = 'dendro.zone'
const NOTHING: ReadonlySet<string> = new Set()

/** ExplorePage asks about events: what was asked stands in the address, every part loads and fails on its own. */
export function ExplorePage() {
  const asked = useSearch({ from: '/inside/explore' })
  const { change, question, zone, setZone, askAgain } = useAsked(asked)
  const datasets = useDatasets()
  const tab = asked.tab ?? 'events'
  const isLive = asked.live === true
  const events = useEvents(question, tab === 'events' && !isLive)
  const bars = useBars(question, true)
  const fields = useFields(question, true)
  const patterns = usePatterns(question, tab === 'patterns')
  const live = useLive(question.datasets, question.where, isLive)
  const queries = useQueryClient()

  const found = useMemo(
    () => (isLive ? live.events : (events.data?.pages.flatMap((page) => page.events) ?? [])),
    [isLive, live.events, events.data],
  )
  const [open, setOpen] = useState(NOTHING)
  const [current, setCurrent] = useState(-1)
  const [anchor, setAnchor] = useState<Event>()
  const [isHelp, setHelp] = useState(false)
  const [hasFields, setHasFields] = useState(() => matchMedia('(min-width: 900px)').matches)
  const input = useRef<HTMLInputElement>(null)

  const narrow = useCallback(
    (clause: string, isAlone = false) => change((now) => withQuery(now, isAlone ? clause : withClause(now.q ?? '', clause))),
    [change],
  )
  const actions = useMemo<ValueActions>(
    () => ({
      include: (key, value) => narrow(isValue(key, value)),
      exclude: (key, value) => narrow(isNotValue(key, value)),
      only: (key, value) => narrow(isValue(key, value), true),
      addColumn: (key) => change((now) => ({ ...now, cols: [...(now.cols ?? []).filter((one) => one !== key), key] })),
    }),
    [narrow, change],
  )
  const toggle = useCallback((id: string) => {
    setOpen((before) => {
      const next = new Set(before)
      if (!next.delete(id)) next.add(id)
      return next
    })
  }, [])
  const nameOf = useCallback((id: string) => datasets.byId.get(id)?.dataset ?? id.slice(0, 8), [datasets.byId])
  const look = useMemo<RowLook>(
    () => ({ zone, columns: asked.cols ?? [], isWrapped: asked.wrap === true, words: searchedWords(question.where), nameOf }),
    [zone, asked.cols, asked.wrap, question.where, nameOf],
  )
  const step = (by: number) => setCurrent((at) => Math.min(found.length - 1, Math.max(0, at + by)))
  useKeys({
    '/': () => input.current?.focus(),
    j: () => step(1),
    k: () => step(-1),
    x: () => found[current] && toggle(idOf(found[current])),
    enter: () => found[current] && toggle(idOf(found[current])),
    c: () => setAnchor(found[current]),
    l: () => change((now) => ({ ...now, live: now.live ? undefined : true })),
    t: () => document.querySelector<HTMLElement>('[data-key="t"]')?.click(),
    r: askAgain,
    '?': () => setHelp(true),
  })
  const first = events.data?.pages[0]
  const failure = events.error ?? bars.error
  const isBusy = events.isFetching || bars.isFetching || patterns.isFetching
  const onEnd = useCallback(() => {
    if (!isLive && events.hasNextPage && !events.isFetching) void events.fetchNextPage()
  }, [isLive, events])

  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Explore</h1>
      <div className="flex flex-wrap items-start gap-2 border-line border-b bg-panel px-3 py-2">
        <DatasetPicker all={datasets.data?.datasets ?? []} picked={asked.d} onPick={(d) => change((now) => optional({ ...now, d }))} />
        <div className="order-last flex w-full min-w-0 lg:order-none lg:w-auto lg:flex-1">
          <QueryLine
            query={asked.q ?? ''}
            off={asked.off ?? []}
            failure={failure}
            fields={fields.data?.fields ?? []}
            isBusy={isBusy && !isLive}
            inputRef={input}
            onQuery={(q, off) => change((now) => optional({ ...withQuery(now, q), off: off ? [...off] : now.off }))}
            onRun={askAgain}
            onCancel={() => void queries.cancelQueries()}
          />
        </div>
        <TimePicker range={question.range} zone={zone} onPick={(range) => change((now) => withRange(now, range))} onZone={setZone} />
        <Button
          aria-pressed={isLive}
          look={isLive ? 'main' : 'plain'}
          title="Live (l)"
          onClick={() => change((now) => optional({ ...now, live: isLive ? undefined : true }))}
        >
          Live
        </Button>
        <Button title="Copy a link to what is shown" onClick={() => navigator.clipboard.writeText(location.href)}>
          Share
        </Button>
      </div>
      <Histogram
        bars={bars.data}
        isOld={bars.isPlaceholderData || bars.isFetching}
        failure={isOfQuery(bars.error) ? undefined : bars.error}
        zone={zone}
        onRange={(fromMs, toMs) => change((now) => withRange({ ...now, live: undefined }, { fromMs, toMs }))}
        again={() => bars.refetch()}
      />
      <div className="flex min-h-0 flex-1">
        {hasFields && (
          <aside className="w-64 shrink-0 border-line border-r bg-panel max-md:w-44">
            <FieldList
              fields={fields.data}
              isOld={fields.isPlaceholderData}
              failure={fields.error}
              actions={actions}
              again={() => fields.refetch()}
            />
          </aside>
        )}
        <div className="flex min-w-0 flex-1 flex-col">
          <div
            className="flex h-9 shrink-0 items-center gap-1 overflow-hidden border-line border-b px-2 text-xs"
            role="toolbar"
            aria-label="View"
          >
            <Button size="small" look="quiet" aria-expanded={hasFields} onClick={() => setHasFields(!hasFields)}>
              Fields
            </Button>
            {tabs.map((one) => (
              <Button
                key={one}
                size="small"
                look={one === tab ? 'chosen' : 'quiet'}
                aria-pressed={one === tab}
                onClick={() => change((now) => optional({ ...now, tab: one === 'events' ? undefined : one }))}
              >
                {one === 'events' ? 'Events' : 'Patterns'}
              </Button>
            ))}
            <Button
              size="small"
              look="quiet"
              aria-pressed={look.isWrapped}
              onClick={() => change((now) => optional({ ...now, wrap: look.isWrapped ? undefined : true }))}
            >
              {look.isWrapped ? 'One line each' : 'Wrap'}
            </Button>
            {look.columns.length > 0 && (
              <Button size="small" look="quiet" onClick={() => change((now) => optional({ ...now, cols: undefined }))}>
                Whole lines
              </Button>
            )}
            <span className="ml-auto truncate text-soft tabular-nums" aria-live="polite">
              {isLive
                ? `${count(live.events.length)} events seen · ${live.perSecond.toFixed(1)} a second`
                : first && `${first.isExact ? '' : 'at least '}${count(first.total)} events · ${bytes(first.bytes)} read · ${first.ms} ms`}
            </span>
          </div>
          <div className="min-h-0 flex-1">
            {tab === 'patterns' ? (
              <PatternList
                patterns={patterns.data?.patterns}
                isOld={patterns.isPlaceholderData}
                failure={patterns.error}
                nameOf={nameOf}
                onInclude={(id) => narrow(isValue('@pattern', id))}
                onExclude={(id) => narrow(isNotValue('@pattern', id))}
                again={() => patterns.refetch()}
              />
            ) : (
              <>
                {isLive && live.failure !== undefined && <FailureNote thrown={live.failure} />}
                {!isLive && events.error && !isOfQuery(events.error) && (
                  <FailureNote thrown={events.error} again={() => events.refetch()} />
                )}
                {look.columns.length > 0 && (
                  <Heads
                    columns={look.columns}
                    onRemove={(name) => change((now) => optional({ ...now, cols: (now.cols ?? []).filter((one) => one !== name) }))}
                  />
                )}
                {events.error && found.length === 0 ? null : found.length === 0 && (isLive || !events.isFetching) ? (
                  <NothingFound
                    asked={asked}
                    question={question}
                    isLive={isLive}
                    hasDatasets={datasets.data === undefined || datasets.data.datasets.length > 0}
                    onChange={change}
                  />
                ) : (
                  <EventList
                    events={found}
                    look={look}
                    open={open}
                    current={current}
                    isOld={!isLive && events.isPlaceholderData}
                    actions={actions}
                    onToggle={toggle}
                    onContext={setAnchor}
                    onEnd={onEnd}
                    end={<End isLive={isLive} isMore={events.hasNextPage} isFetching={events.isFetching} />}
                  />
                )}
              </>
            )}
          </div>
        </div>
      </div>
      {anchor && <ContextView anchor={anchor} look={look} actions={actions} onClose={() => setAnchor(undefined)} />}
      {isHelp && <Shortcuts onClose={() => setHelp(false)} />}
    </div>
  )
}

type Change = (by: (now: Asked) => Asked) => void

function useAsked(asked: Asked) {
  const navigate = useNavigate({ from: '/explore' })
  const [turn, setTurn] = useState(0)
  const [zone, setKept] = useState<Zone>(() => (localStorage.getItem(ZONE_KEY) === 'local' ? 'local' : 'utc'))
  const change = useCallback<Change>((by) => void navigate({ search: (now) => by(now) }), [navigate])
  const setZone = (next: Zone) => {
    localStorage.setItem(ZONE_KEY, next)
    setKept(next)
  }
  const range = rangeOf(asked)
  const key = JSON.stringify([asked.d, asked.q, range, turn])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key holds everything the question is made of
  const question = useMemo<Question>(() => ({ datasets: asked.d, where: asked.q ?? '', range, turn }), [key])
  return { change, question, zone, setZone, askAgain: () => setTurn((before) => before + 1) }
}

const withQuery = (now: Asked, q: string): Asked => optional({ ...now, q: q.trim() === '' ? undefined : q })

/** optional leaves out what is undefined or empty, so that an address is as short as can be. */
const optional = (asked: { [N in keyof Asked]: Asked[N] | undefined }): Asked =>
  Object.fromEntries(
    Object.entries(asked).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  ) as Asked

const isOfQuery = (thrown: unknown): boolean => thrown instanceof ApiFailure && (thrown.errors ?? []).some(({ field }) => field === 'where')

function Heads({ columns, onRemove }: { columns: readonly string[]; onRemove(name: string): void }) {
  return (
    <div className="flex gap-2 border-line border-b px-2 py-0.5 pl-[calc(0.5rem+3px)] font-mono text-soft text-xs">
      <span className="w-4 shrink-0" />
      <span className="w-[12ch] shrink-0">time</span>
      <span className="w-28 shrink-0 max-lg:hidden">dataset</span>
      {columns.map((name) => (
        <span key={name} className="flex min-w-24 flex-1 items-center gap-1 truncate">
          {name}
          <button type="button" aria-label={`Remove the column ${name}`} onClick={() => onRemove(name)}>
            ×
          </button>
        </span>
      ))}
    </div>
  )
}

function End({ isLive, isMore, isFetching }: { isLive: boolean; isMore: boolean; isFetching: boolean }) {
  if (isLive) return null
  return <p className="p-2 text-center text-soft text-xs">{isFetching ? 'Reading …' : isMore ? 'More below' : 'The range ends here'}</p>
}
