import type { FailureBody, Widget } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

const NOWHERE = '00000000-0000-4000-8000-000000000000'
type WidgetList = { widgets: Widget[]; next_cursor?: string }

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
})
beforeEach(async () => {
  org = await app.newOrganization()
})
afterAll(() => app?.close())

const create = async (path: string, body: object, owner = org): Promise<string> =>
  (await owner.ask<{ id: string }>('POST', path, { body })).body.id
const newMetric = (owner = org) =>
  create('/metrics/definitions', { queries: [{ name: 'n', select: ['count(*)'], from_expr: '*', where: '' }] }, owner)
/** Each widget is created a second after the one before. */
const newWidget = (body: object, owner = org) => {
  app.clock.advance(1_000)
  return create('/widgets', body, owner)
}
const list = async (parameters: string, owner = org): Promise<WidgetList> =>
  (await owner.ask<WidgetList>('GET', `/widgets?${parameters}`)).body
const names = async (parameters: string, owner = org): Promise<string[]> => (await list(parameters, owner)).widgets.map(({ name }) => name)
const refused = async (parameters: string) => {
  const { status, body } = await org.ask<FailureBody>('GET', `/widgets?${parameters}`)
  return [status, body.errors?.[0]?.field]
}

describe('the list of widgets', () => {
  test('is read by ids, and found by name, description and tags', async () => {
    const first = await newWidget({ name: 'first', description: 'Orders of a day' })
    const second = await newWidget({ name: 'second', tags: { team: 'shop' } })
    await newWidget({ name: 'third' })
    expect(await names(`widget_ids=${first},${second},${NOWHERE}`)).toEqual(['second', 'first'])
    expect(await names(`widget_ids=${first}&search=shop`)).toEqual([])
    expect(await names('search=ORDERS%20first')).toEqual(['first'])
    expect(await names('search=team%20shop')).toEqual(['second'])
    expect(await refused('widget_ids=web')).toEqual([400, 'widget_ids.0'])
  })

  test('has only frames, or only widgets that are none', async () => {
    const inner = await newWidget({ name: 'inner' })
    await newWidget({ name: 'frame', widget_ids: [inner] })
    expect(await names('is_frame=true')).toEqual(['frame'])
    expect(await names('is_frame=false')).toEqual(['inner'])
    expect(await names('is_frame=false&search=frame')).toEqual([])
  })

  test('has those that show a metric, of each metric as many as are wanted, in pages', async () => {
    const [metric, other, unused] = [await newMetric(), await newMetric(), await newMetric()]
    for (const name of ['c', 'b', 'a']) await newWidget({ name, metric_ids: [metric] })
    await newWidget({ name: 'both', metric_ids: [other, metric] })
    await newWidget({ name: 'none' })
    expect(await names(`metric_ids=${metric}`)).toEqual(['both', 'a', 'b', 'c'])
    expect(await names(`metric_ids=${metric}&per_metric=2`)).toEqual(['both', 'a'])
    expect(await names(`metric_ids=${other},${metric},${unused}&per_metric=1&sort=name`)).toEqual(['both'])
    expect(await names(`metric_ids=${unused}`)).toEqual([])
    const page = await list(`metric_ids=${metric}&per_metric=3&limit=2`)
    expect(page.widgets.map(({ name }) => name)).toEqual(['both', 'a'])
    expect(await names(`metric_ids=${metric}&per_metric=3&limit=2&cursor=${page.next_cursor}`)).toEqual(['b'])
    expect(await refused('per_metric=2')).toEqual([400, 'per_metric'])
    expect(await refused(`per_metric=0&metric_ids=${metric}`)).toEqual([400, 'per_metric'])
    expect(await refused(`metric_ids=${Array.from({ length: 101 }, () => metric).join(',')}`)).toEqual([400, 'metric_ids'])
  })

  test('has nothing of another organization, by id, by metric or by name', async () => {
    const metric = await newMetric()
    const widget = await newWidget({ name: 'ours', metric_ids: [metric] })
    const other = await app.newOrganization()
    await newWidget({ name: 'theirs' }, other)
    expect(await names(`widget_ids=${widget}`, other)).toEqual([])
    expect(await names(`metric_ids=${metric}`, other)).toEqual([])
    expect(await names('search=ours', other)).toEqual([])
    expect(await names('sort=name&limit=5', other)).toEqual(['theirs'])
  })
})
