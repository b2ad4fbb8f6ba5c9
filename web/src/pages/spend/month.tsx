import type { BudgetState, SpendMonth } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { Chart } from '../../parts/chart/chart.tsx'
import type { ChartData } from '../../parts/chart/data.ts'
import { money, NO_CURRENCY } from '../../parts/chart/money.ts'
import { bytes, share } from '../../parts/chart/numbers.ts'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Loading, Panel } from '../../parts/shell/page.tsx'
import type { Zone } from '../../parts/time/time-range.ts'

export const SPEND_BUDGET = ['spend', 'budget'] as const
const DAY_MS = 86_400_000
const GB = 1_000_000_000

const states: Record<BudgetState, { text: string; tone: string }> = {
  WITHIN: { text: 'within the budget', tone: 'text-soft' },
  AT_RISK: { text: 'may exceed the budget', tone: 'text-warn' },
  LIKELY_EXCEEDED: { text: 'will likely exceed the budget', tone: 'text-error' },
  EXCEEDED: { text: 'exceeds the budget', tone: 'text-error' },
}

/** The month so far, what is expected of it, and its budget. */
export function Month({ zone }: { zone: Zone }) {
  const client = useClient()
  const month = useQuery({ queryKey: SPEND_BUDGET, queryFn: ({ signal }) => client.spend.budget({ signal }) })
  return (
    <Panel title="This month">
      {month.error ? <FailureNote thrown={month.error} again={() => month.refetch()} /> : null}
      {month.data === undefined && !month.error && <Loading />}
      {month.data !== undefined && (
        <div className="flex flex-col gap-2 p-3">
          <Standing month={month.data} />
          <Chart label="Spend by day" data={dailyData(month.data)} shape="bar" zone={zone} height={160} unit={bytes} />
        </div>
      )}
    </Panel>
  )
}

function Standing({ month }: { month: SpendMonth }) {
  const { price, budget, forecast, cost } = month
  const amount = (inBytes: number, inMoney: number | undefined) =>
    price && inMoney !== undefined ? `${money(inMoney, price.currency)} (${bytes(Math.round(inBytes))})` : bytes(Math.round(inBytes))
  const range = price && forecast?.cost ? forecast.cost : forecast?.bytes
  const unit = (value: number) => (price && forecast?.cost ? money(value, price.currency) : bytes(Math.round(value)))
  return (
    <div className="flex flex-wrap items-baseline gap-x-6 gap-y-1 tabular-nums">
      <p>
        <span className="text-soft">So far </span>
        <strong className="text-2xl">{amount(Number(month.bytes), cost)}</strong>
      </p>
      {forecast && range ? (
        <p>
          <span className="text-soft">Expected </span>
          <strong>{amount(forecast.bytes.expected, forecast.cost?.expected)}</strong>
          <span className="text-soft" title="In four of five months it lies between these.">
            {' '}
            between {unit(range.low)} and {unit(range.high)}
          </span>
        </p>
      ) : (
        <p className="text-soft">No forecast before three full days of data.</p>
      )}
      {budget && (
        <p className={states[budget.state].tone}>
          {share(budget.used, budget.amount)} of{' '}
          {budget.unit === 'GB' ? bytes(budget.amount * GB) : money(budget.amount, price?.currency ?? NO_CURRENCY)} used,{' '}
          {states[budget.state].text}
        </p>
      )}
      {!month.is_whole && <p className="text-soft">Only datasets that you may see are counted.</p>}
    </div>
  )
}

function dailyData({ days }: SpendMonth): ChartData {
  const expected = { name: 'expected', values: days.map(({ forecast_bytes }) => forecast_bytes ?? 0) }
  return {
    times: days.map(({ start_time }) => start_time),
    stepMs: DAY_MS,
    series: [
      { name: 'arrived', values: days.map((day) => Number(day.bytes)) },
      ...(expected.values.some((value) => value > 0) ? [expected] : []),
    ],
  }
}
