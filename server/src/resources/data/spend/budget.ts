import type { BudgetState, SpendBudget, SpendMonth, SpendPrice } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { isLimited } from '../../access/policies/policies.ts'
import { monthOf } from '../limits/limits.ts'
import { type ForecastRequest, forecastMonth, type MonthForecast } from './forecast.ts'
import { BYTES_PER_GB, costMember, costOf } from './price.ts'
import { spendSettings } from './settings.ts'
import { readSpent, type SpendWorld, sumOf } from './spent.ts'

const DAY_MS = 86_400_000
/** The full days that a forecast is based on: eight of each day of the week. */
const HISTORY_DAYS = 56

/** What the month has used of its budget, and what it is expected to use. */
export async function readBudget(world: SpendWorld, actor: Actor): Promise<SpendMonth> {
  const nowMs = world.clock.nowMs()
  const month = monthOf(nowMs)
  const todayMs = nowMs - (nowMs % DAY_MS)
  const bounds = { fromMs: Math.max(0, todayMs - HISTORY_DAYS * DAY_MS), toMs: todayMs + DAY_MS }
  const slices = (bounds.toMs - bounds.fromMs) / DAY_MS
  const { price, budget } = await spendSettings(world, actor.orgId)
  const { rows, isExact } = await readSpent(world, actor, { bounds, slices, by: 'nothing', groupsMax: 1 })
  const days = Array.from({ length: slices }, () => ({ events: 0, bytes: 0, byteDays: 0 }))
  for (const { slice, events, bytes, byteDays } of rows) days[slice] = { events, bytes, byteDays }
  const monthDays = (month.endMs - month.startMs) / DAY_MS
  const past = (todayMs - month.startMs) / DAY_MS
  const own = days.slice(-past - 1)
  const sum = sumOf(
    own.map((day, slice) => ({ ...day, slice })),
    own.length,
    price,
  )
  const forecast = (amounts: readonly number[]): MonthForecast | undefined => {
    const request: ForecastRequest = {
      history: amounts.slice(0, -1),
      today: todayMs / DAY_MS,
      elapsed: (nowMs - todayMs) / DAY_MS,
      spent: amounts.slice(-past - 1).reduce((all, amount) => all + amount, 0),
      left: monthDays - past - 1,
    }
    return forecastMonth(request)
  }
  const ofBytes = forecast(days.map(({ bytes }) => bytes))
  const ofCost = price && forecast(days.map((day) => costOf(day, price)))
  return {
    start_time: month.startMs,
    end_time: month.endMs,
    bytes: sum.bytes,
    ...(sum.cost === undefined ? {} : { cost: sum.cost }),
    ...(ofBytes
      ? { forecast: { bytes: ofBytes.month, ...(ofCost ? { cost: ofCost.month } : {}), history_days: ofBytes.historyDays } }
      : {}),
    ...budgetMember(budget, { bytes: Number(sum.bytes), cost: sum.cost ?? 0, ofBytes, ofCost }),
    ...(price ? { price } : {}),
    is_whole: !(await isLimited(world, actor)),
    is_exact: isExact,
    days: Array.from({ length: monthDays }, (_, index) =>
      dayOf(month.startMs + index * DAY_MS, own[index], ofBytes?.rest[index - past], price),
    ),
  }
}

function dayOf(
  startMs: number,
  day: { bytes: number; byteDays: number } | undefined,
  forecastBytes: number | undefined,
  price: SpendPrice | undefined,
): SpendMonth['days'][number] {
  const priced = day ?? { bytes: 0, byteDays: 0 }
  return {
    start_time: startMs,
    bytes: priced.bytes,
    ...costMember(priced, price),
    ...(forecastBytes === undefined ? {} : { forecast_bytes: forecastBytes }),
  }
}

type MonthSpend = { bytes: number; cost: number; ofBytes: MonthForecast | undefined; ofCost: MonthForecast | undefined }

function budgetMember(budget: SpendBudget | undefined, { bytes, cost, ofBytes, ofCost }: MonthSpend): Pick<SpendMonth, 'budget'> {
  if (!budget) return {}
  const [used, month, unit] = budget.unit === 'GB' ? [bytes / BYTES_PER_GB, ofBytes?.month, BYTES_PER_GB] : [cost, ofCost?.month, 1]
  return {
    budget: {
      ...budget,
      used,
      state: budgetState(budget.amount, used, month && { expected: month.expected / unit, high: month.high / unit }),
    },
  }
}

/** How a month stands; without a forecast only what is used counts. */
export function budgetState(amount: number, used: number, forecast: { expected: number; high: number } | undefined): BudgetState {
  if (used > amount) return 'EXCEEDED'
  if (forecast && forecast.expected > amount) return 'LIKELY_EXCEEDED'
  return forecast && forecast.high > amount ? 'AT_RISK' : 'WITHIN'
}
