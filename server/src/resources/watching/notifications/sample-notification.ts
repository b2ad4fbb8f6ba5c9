import type { BodyOf, contract } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import type { AlertStatus, ComparisonOperator, Occasion, StatusTransition } from '../alert-states/alert-states.ts'
import { checkActions, targetsOf } from '../integrations/integrations.ts'
import { columnsFromDraft, definitionOf, type MonitorColumns } from '../monitor-definitions/monitor-definitions.ts'
import { monitorReads, visibleMonitors } from '../monitors/monitors.ts'
import { queueNotifications } from './notifications.ts'

type TestRequest = BodyOf<typeof contract.notifications.sendTest>

const steps: Record<StatusTransition, readonly [before: AlertStatus, after: AlertStatus]> = {
  ALERT: ['OK', 'ALERT'],
  WARN: ['OK', 'WARN'],
  ALERT_TO_WARN: ['ALERT', 'WARN'],
  ALERT_RECOVERY: ['ALERT', 'OK'],
  WARN_RECOVERY: ['WARN', 'OK'],
  NO_DATA: ['OK', 'NO_DATA'],
  NO_DATA_RECOVERY: ['NO_DATA', 'OK'],
}

/** Sends made-up status changes through the real delivery; mutes and downtimes do not apply. */
export async function sendTest(world: World, actor: Actor, request: TestRequest): Promise<undefined> {
  const defaults = { no_data_status: 'NO_DATA', notify_once: false, ai_report_enabled: false } as const
  const members = columnsFromDraft({ ...request, ...defaults, monitor_type: request.monitor_type })
  const monitorId = request.monitor_id
  if (
    monitorId !== undefined &&
    !(await visibleMonitors(world, actor, () => monitorReads(world, actor.orgId))).some(({ id }) => id === monitorId)
  ) {
    throw badField('monitor_id', 'names no monitor', 'UNKNOWN')
  }
  const made = { alertId: world.ids.uuid(), monitorId: monitorId ?? world.ids.uuid(), nowMs: world.clock.nowMs() }
  await world.meta.write(actor.orgId, async (tx) => {
    await checkActions(tx, actor.orgId, members.actions)
    const targets = await targetsOf(tx, actor.orgId, members.actions)
    for (const [place, change] of request.state_transitions.entries()) {
      const occasion = occasionOf(members, request, change, { ...made, nowMs: made.nowMs + place })
      await queueNotifications(world, tx, { orgId: actor.orgId, monitorId, eventId: undefined, occasion, targets, isTest: true })
    }
  })
}

type TestIds = { alertId: string; monitorId: string; nowMs: number }

function occasionOf(
  members: MonitorColumns,
  request: TestRequest,
  change: StatusTransition,
  { alertId, monitorId, nowMs }: TestIds,
): Occasion {
  const [before, after] = steps[change]
  const threshold = after === 'WARN' || before === 'WARN' ? (members.warning_threshold ?? members.threshold) : members.threshold
  const value = after === 'NO_DATA' ? undefined : exampleValue(members.comparison_operator, threshold, after !== 'OK')
  const group = request.group ?? ''
  return {
    alertId,
    monitor: {
      id: monitorId,
      name: members.name,
      ...(members.description === null ? {} : { description: members.description }),
      type: members.type,
      operator: members.comparison_operator,
      threshold: members.threshold,
      ...(members.warning_threshold === null ? {} : { warningThreshold: members.warning_threshold }),
      window: members.time_window,
      queries: members.queries,
      formulas: members.formulas,
      reportEnabled: false,
    },
    change,
    before,
    after,
    isDelayed: false,
    group,
    groups: groupsIn(group),
    troubledGroups: group !== '' && (after === 'ALERT' || after === 'WARN') ? [group] : [],
    ...(value === undefined ? {} : { value }),
    threshold,
    fromMs: nowMs - definitionOf(members).windowMs,
    toMs: nowMs,
    atMs: nowMs,
  }
}

const past: Record<ComparisonOperator, (threshold: number) => number> = {
  BELOW: (threshold) => threshold - 1,
  BELOW_OR_EQUAL: (threshold) => threshold,
  ABOVE: (threshold) => threshold + 1,
  ABOVE_OR_EQUAL: (threshold) => threshold,
  EQUAL: (threshold) => threshold,
  NOT_EQUAL: (threshold) => threshold + 1,
  OUTSIDE: (threshold) => Math.abs(threshold) + 1,
}
const within: Record<ComparisonOperator, (threshold: number) => number> = {
  BELOW: (threshold) => threshold + 1,
  BELOW_OR_EQUAL: (threshold) => threshold + 1,
  ABOVE: (threshold) => threshold - 1,
  ABOVE_OR_EQUAL: (threshold) => threshold - 1,
  EQUAL: (threshold) => threshold + 1,
  NOT_EQUAL: (threshold) => threshold,
  OUTSIDE: () => 0,
}

/** A value that would cause the change. */
const exampleValue = (operator: ComparisonOperator, threshold: number, isTrouble: boolean): number =>
  (isTrouble ? past : within)[operator](threshold)

/** Parses `key:value` pairs; a comma that starts no pair belongs to the value before it. */
function groupsIn(group: string): Record<string, string> {
  const pairs: [string, string][] = []
  for (const part of group.split(',')) {
    const at = part.indexOf(':')
    const last = pairs.at(-1)
    if (at > 0) pairs.push([part.slice(0, at), part.slice(at + 1)])
    else if (last) last[1] += `,${part}`
  }
  return Object.fromEntries(pairs)
}
