import { useState } from 'react'
import { Chart } from '../../parts/chart/chart.tsx'
import type { ChartData } from '../../parts/chart/data.ts'
import { DatasetPicker } from '../../parts/datasets/dataset-picker.tsx'
import { TimePicker } from '../../parts/time/time-picker.tsx'
import type { Range } from '../../parts/time/time-range.ts'
import { Group, State } from './kit-state.tsx'

const START_MS = Date.UTC(2026, 0, 5, 10)
const STEP_MS = 60_000
const STEPS = 48

/** waves are series of fixed values, so that every picture of them is the same. */
const waves = (names: readonly string[]): ChartData => ({
  times: Array.from({ length: STEPS }, (_, at) => START_MS + at * STEP_MS),
  stepMs: STEP_MS,
  series: names.map((name, series) => ({
    name,
    values: Array.from({ length: STEPS }, (_, at) =>
      at % 17 === 16 && series === 1 ? null : Math.round(60 + 40 * Math.sin((at + series * 5) / 6)),
    ),
  })),
})

const two = waves(['checkout', 'payments'])
const eight = waves(Array.from({ length: 8 }, (_, at) => `service-${at + 1}`))
const levels = [
  { value: 90, name: 'Alert', kind: 'ALERT' },
  { value: 70, name: 'Warning', kind: 'WARN' },
] as const
const bands = [{ fromMs: START_MS + 10 * STEP_MS, toMs: START_MS + 18 * STEP_MS, kind: 'ALERT' }] as const
const nothing = waves([])

/** ChartStates are charts of every shape, and the pickers above them. */
export function ChartStates() {
  const [range, setRange] = useState<Range>({ words: 'Last 1 hour' })
  const [picked, setPicked] = useState<string[] | undefined>()
  return (
    <>
      <Group title="Charts">
        {(['line', 'area', 'bar'] as const).map((shape) => (
          <State key={shape} name={`chart ${shape}`} isWide>
            <Chart label={shape} data={two} shape={shape} zone="utc" height={140} />
          </State>
        ))}
        <State name="chart with thresholds" isWide>
          <Chart label="thresholds" data={waves(['errors'])} levels={levels} bands={bands} zone="utc" height={140} />
        </State>
        <State name="chart of eight series" isWide>
          <Chart label="eight" data={eight} shape="area" zone="utc" height={140} />
        </State>
        <State name="chart without values" isWide>
          <Chart label="nothing" data={nothing} zone="utc" height={140} />
        </State>
        <State name="chart that is old" isWide>
          <Chart label="old" data={two} zone="utc" height={140} isOld />
        </State>
      </Group>
      <Group title="Pickers">
        <State name="time picker">
          <TimePicker range={range} zone="utc" onPick={setRange} onZone={() => undefined} />
        </State>
        <State name="dataset picker">
          <DatasetPicker picked={picked} onPick={setPicked} />
        </State>
      </Group>
    </>
  )
}
