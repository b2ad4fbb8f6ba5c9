import { AskBar } from './ask-bar.tsx'
import { optional, withRange } from './asked.ts'
import { type Asking, type PageState, useAsking, usePageState } from './asking.ts'
import { earlierName } from './compare.ts'
import { CompareWith } from './compare-with.tsx'
import { ContextView } from './context-view.tsx'
import { useDoing } from './doing.ts'
import { FieldList } from './field-list.tsx'
import { Histogram } from './histogram.tsx'
import { useCancelUnseen } from './leaving.ts'
import { readSpot } from './link.ts'
import { MarkerList, MarkerStrip } from './marker-strip.tsx'
import { PaneEdge, usePaneWidth } from './pane-edge.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { isOfQuery } from './state.ts'
import { TabView } from './tab-view.tsx'
import { TrayView } from './tray-view.tsx'
import { ViewBar } from './view-bar.tsx'

/** ExplorePage asks about events: what was asked stands in the address, every part loads and fails on its own. */
export function ExplorePage() {
  const asking = useAsking()
  const page = usePageState()
  useDoing(asking, page)
  useCancelUnseen()
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Explore</h1>
      <Ask asking={asking} page={page} />
      <OverTime asking={asking} />
      <div className="flex min-h-0 flex-1">
        {page.hasFields && <Beside asking={asking} />}
        <div className="flex min-w-0 flex-1 flex-col">
          <View asking={asking} page={page} />
          <div className="flex min-h-0 flex-1 flex-col">
            <TabView asking={asking} />
          </div>
          <TrayView tray={asking.tray} look={asking.look} actions={asking.actions} onContext={asking.rows.acts.showContext} />
        </div>
      </div>
      <Around asking={asking} />
      {page.isHelp && <Shortcuts onClose={() => page.setHelp(false)} />}
    </div>
  )
}

type Props = { asking: Asking }

function Ask({ asking, page }: Props & { page: PageState }) {
  const {
    asked,
    change,
    question,
    zone,
    setZone,
    askAgain,
    turnLive,
    columns,
    found,
    datasets,
    fields,
    events,
    bars,
    groups,
    shown,
    look,
  } = asking
  return (
    <AskBar
      {...{ asked, change, question, zone, setZone, askAgain, turnLive, columns, found, shown }}
      nameOf={look.nameOf}
      datasets={datasets.data?.datasets ?? []}
      fields={fields.data?.fields ?? []}
      failure={events.error ?? bars.error ?? groups.error}
      isBusy={asking.isBusy}
      inputRef={page.input}
      onCancel={asking.cancel}
    />
  )
}

function OverTime({ asking: { asked, question, bars, earlier, against, markers, zone, change } }: Props) {
  const before = against && earlier.bars.data
  return (
    <Histogram
      bars={bars.data}
      earlier={before && { bars: before, name: earlierName(against, question.range) }}
      isOld={bars.isPlaceholderData || bars.isFetching}
      failure={isOfQuery(bars.error) ? undefined : bars.error}
      zone={zone}
      chosen={asked.sf !== undefined && asked.st !== undefined ? { fromMs: asked.sf, toMs: asked.st } : undefined}
      canReset={asked.f !== undefined || asked.r !== undefined}
      over={bars.data && markers.data && <MarkerStrip markers={markers.data.markers} bars={bars.data} zone={zone} />}
      tools={
        <>
          <MarkerList markers={markers.data} failure={markers.error} zone={zone} again={markers.refetch} />
          <CompareWith against={asked.cmp} range={question.range} failure={earlier.bars.error} change={change} />
        </>
      }
      onChoose={(bar) => change((now) => optional({ ...now, live: undefined, sf: bar?.fromMs, st: bar?.toMs }))}
      onRange={(range) => change((now) => withRange(optional({ ...now, live: undefined }), range))}
      onReset={() => change(({ r: _r, f: _f, t: _t, sf: _sf, st: _st, ...now }) => now)}
      onDifference={() => change((now) => ({ ...now, tab: 'difference' }))}
      again={() => bars.refetch()}
    />
  )
}

function Beside({ asking: { fields, question, actions } }: Props) {
  const [width, setWidth] = usePaneWidth(FIELDS_PX)
  return (
    <aside className="relative max-w-[45vw] shrink-0 border-line border-r bg-panel" style={{ width }}>
      <FieldList
        question={question}
        fields={fields.data}
        isOld={fields.isPlaceholderData}
        failure={fields.error}
        actions={actions}
        again={() => fields.refetch()}
      />
      <PaneEdge label="Width of the key list" width={width} onWidth={setWidth} />
    </aside>
  )
}

const FIELDS_PX = 256

function View({ asking, page: { hasFields, setHasFields } }: Props & { page: PageState }) {
  const { asked, change, columns, tab, show, live, isLive, answered, shown, look, detail, setReading, seeking } = asking
  return (
    <ViewBar
      {...{ asked, change, columns, hasFields, setHasFields, tab, show, live, isLive, answered, shown, detail, setReading }}
      density={look.density}
      onFind={seeking.open}
    />
  )
}

function Around({ asking: { asked, look, actions, rows, change, tray } }: Props) {
  const spot = asked.e === undefined ? undefined : readSpot(asked.e)
  if (!spot) return null
  return (
    <ContextView
      anchor={spot}
      side={asked.ew ?? 'both'}
      look={look}
      actions={actions}
      acts={rows.acts}
      pinned={tray.ids}
      onSide={(side) => change((now) => optional({ ...now, ew: side === 'both' ? undefined : side }))}
      onClose={() => change(({ e: _, ew: _ew, ...now }) => now)}
    />
  )
}
