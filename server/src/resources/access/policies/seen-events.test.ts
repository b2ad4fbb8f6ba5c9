import { printFilter } from '@dendro/language/print'
import { describe, expect, test } from 'vitest'
import { liftsLimits, type PolicyDataset, type PolicyRule, ruleOf, type Viewer } from './decide.ts'
import { seenEventsOf } from './seen-events.ts'

const web: PolicyDataset = { id: '11111111-1111-4111-8111-111111111111', collection: 'shop', dataset: 'web' }
const cart: PolicyDataset = { id: '22222222-2222-4222-8222-222222222222', collection: 'shop', dataset: 'cart' }
const ann: Viewer = { type: 'USER', id: 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', roles: ['Standard', 'ReadOnly'] }
const bob: Viewer = { type: 'USER', id: 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb', roles: ['Admin'] }

type Draft = Parameters<typeof ruleOf>[0]
const role = (name: string) => ({ principal_type: 'ROLE', principal_id: name }) as const
const log = (place: PolicyDataset) => ({ resource_type: 'LOG', resource_id: place.id })
const shop = { resource_type: 'LOG_SET', resource_id: 'shop' }
const show = (rest: Partial<Draft> = {}): PolicyRule =>
  ruleOf({ policy_type: 'ROLE_BASED', resource: shop, principal: role('Standard'), ...rest })
/** The filter of what somebody sees of a dataset; `all` for all of it. */
const seen = (rules: readonly PolicyRule[], viewer: Viewer = ann, place: PolicyDataset = web): string => {
  const filter = seenEventsOf(rules, viewer)?.(place)
  return filter ? printFilter(filter) : 'all'
}
const where = (text: string) => ({ when: { where: text } })

test('without such a policy everything is seen, and nothing has to be decided', () => {
  expect(seenEventsOf([], ann)).toBe(undefined)
  expect(seenEventsOf([show(where('team = shop'))], bob)).toBe(undefined)
  expect(seenEventsOf([ruleOf({ policy_type: 'LOG_PERMIT', resource: shop, principal: role('Standard') })], ann)).toBe(undefined)
})

describe('the events that are seen', () => {
  test('are those that any policy for the dataset shows, in any order, each condition once', () => {
    const rules = [show(where('team = shop')), show({ ...where('level = error'), principal: role('ReadOnly') }), show(where('team = shop'))]
    expect(seen(rules)).toBe("level = 'error' OR team = 'shop'")
    expect(seen(rules.toReversed())).toBe(seen(rules))
    const decide = seenEventsOf(rules, ann)
    expect(decide?.(web), 'one object for all datasets with the same condition').toBe(decide?.(cart))
  })

  test('are all as soon as one policy shows all of them', () => {
    expect(seen([show(where('team = shop')), show({ resource: log(web) })])).toBe('all')
    expect(seen([show(where('team = shop')), show({ resource: log(web) })], ann, cart)).toBe("team = 'shop'")
  })

  test('meet the conditions of context and where together', () => {
    const context = [
      { key: 'team', operator: 'in', value: 'shop, web' },
      { key: 'status', operator: '>=', value: '500' },
      { key: 'paid', operator: '!=', value: true },
      { key: 'host', operator: 'like', value: 'web-%' },
      { key: 'it is', operator: 'not in', value: "o'clock" },
    ] as const
    expect(seen([show({ when: { context: [...context], where: 'level = error or level = warn' } })])).toBe(
      `team IN ('shop', 'web') AND status >= 500 AND paid != true AND host LIKE 'web-%' AND "it is" NOT IN ('o''clock') AND (level = 'error' OR level = 'warn')`,
    )
  })

  test('are not those that a policy excepts, for the logs and principals of the exception', () => {
    expect(seen([show({ ...where('team = shop'), unless: { where: 'secret = 1' } })])).toBe("team = 'shop' AND NOT secret = 1")
    const some = show({ ...where('team = shop'), unless: { where: 'secret = 1', resources: [log(cart)] } })
    expect([seen([some]), seen([some], ann, cart)]).toEqual(["team = 'shop'", "team = 'shop' AND NOT secret = 1"])
    const others = show({ ...where('team = shop'), unless: { where: 'secret = 1', principals: [role('Admin')] } })
    expect(seen([others])).toBe("team = 'shop'")
  })

  test('are decided by policies that apply to the dataset and the viewer only', () => {
    expect(seen([show({ when: { where: 'team = shop', resources: [log(cart)] } })])).toBe('all')
    expect(seen([show({ ...where('team = shop'), unless: { resources: [log(web)] } })])).toBe('all')
    expect(seen([show({ ...where('team = shop'), unless: { principals: [role('ReadOnly')] } })])).toBe('all')
  })

  test('are none where a stored condition can no longer be read', () => {
    const broken = show({ when: { where: 'team = = shop' } })
    expect(seen([broken])).toBe("NOT ''")
  })
})

describe('who sees only some events grants only roles that see the same', () => {
  const grantee = (...roles: string[]): Viewer => ({ type: 'APIKEY', id: '', roles })
  const rules = [show(where('team = shop')), show({ ...where('team = lab'), principal: role('Admin') })]

  test.each<[string, string[], boolean]>([
    ['the same role', ['Standard'], false],
    ['a role without the condition', ['ReadOnly'], true],
    ['a role that sees other events', ['Admin'], true],
    ['a role that sees other events too', ['Standard', 'Admin'], true],
  ])('%s', (_, roles, lifts) => {
    expect(liftsLimits(rules, ann, grantee(...roles))).toBe(lifts)
    expect(liftsLimits(rules, { ...bob, roles: ['Nobody'] }, grantee(...roles)), 'who sees everything may').toBe(false)
  })
})
