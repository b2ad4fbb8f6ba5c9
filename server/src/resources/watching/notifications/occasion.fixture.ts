import { randomUUID } from 'node:crypto'
import type { Occasion } from '../alert-states/alert-states.ts'

/** An alert that a test varies. */
export function occasionOf(over: Partial<Omit<Occasion, 'monitor'>> & { monitor?: Partial<Occasion['monitor']> } = {}): Occasion {
  const atMs = over.atMs ?? 1_795_262_400_000
  return {
    alertId: randomUUID(),
    change: 'ALERT',
    before: 'OK',
    after: 'ALERT',
    isDelayed: false,
    group: '',
    groups: {},
    troubledGroups: [],
    value: 12,
    threshold: 10,
    fromMs: atMs - 300_000,
    toMs: atMs,
    atMs,
    ...over,
    monitor: {
      id: randomUUID(),
      name: 'Checkout errors',
      description: 'Too many payments fail.',
      type: 'PATTERN',
      operator: 'ABOVE',
      threshold: 10,
      window: 'Last 5 minutes',
      queries: [{ name: 'errors', select: ['count(*)'], from: [], where: 'level = error' }],
      formulas: [],
      reportEnabled: false,
      ...over.monitor,
    },
  }
}
