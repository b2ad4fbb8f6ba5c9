import type { ContentPackRule } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { quantity } from '../../parts/chart/numbers.ts'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'

const DAYS = 1

/** Says how often a monitor would have notified on the last day. */
export function PackBacktest({ rule }: { rule: ContentPackRule }) {
  const client = useClient()
  const backtest = useQuery({
    queryKey: ['backtest', rule, DAYS],
    queryFn: ({ signal }) => client.monitors.backtest({ body: { ...rule, days: DAYS }, signal, repeatable: true }),
  })
  if (backtest.error) return <FailureNote thrown={backtest.error} again={() => backtest.refetch()} isSmall />
  const found = backtest.data
  return (
    <p className="text-xs" aria-live="polite">
      {!found && <span className="text-soft">Backtest: loading…</span>}
      {found?.notifications_total === 0 && 'No notifications in the last day.'}
      {found && found.notifications_total > 0 && `${quantity(found.notifications_total, 'notification')} in the last day.`}
    </p>
  )
}
