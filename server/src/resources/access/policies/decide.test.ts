import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  concerns,
  liftsLimits,
  matchesAny,
  normalPrincipal,
  normalResource,
  type PolicyDataset,
  type PolicyRule,
  ruleOf,
  type Viewer,
  visibilityOf,
} from './decide.ts'

const web: PolicyDataset = { id: '11111111-1111-4111-8111-111111111111', collection: 'shop', dataset: 'web' }
const cart: PolicyDataset = { id: '22222222-2222-4222-8222-222222222222', collection: 'shop', dataset: 'cart' }
const lab: PolicyDataset = { id: '33333333-3333-4333-8333-333333333333', collection: 'lab', dataset: 'web' }
const places = [web, cart, lab]

const ann: Viewer = { type: 'USER', id: 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', roles: ['Standard'] }
const bob: Viewer = { type: 'USER', id: 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb', roles: ['Admin'] }
const key: Viewer = { type: 'APIKEY', id: 'cccccccc-cccc-4ccc-8ccc-cccccccccccc', roles: ['SearchApi'] }

type Draft = Parameters<typeof ruleOf>[0]
const user = (viewer: Viewer) => ({ principal_type: viewer.type, principal_id: viewer.id }) as const
const role = (name: string) => ({ principal_type: 'ROLE', principal_id: name }) as const
const log = (place: PolicyDataset) => ({ resource_type: 'LOG', resource_id: place.id })
const collection = (name: string) => ({ resource_type: 'LOG_SET', resource_id: name })

const forbid = (resource: Draft['resource'], principal: Draft['principal'], rest: Partial<Draft> = {}): PolicyRule =>
  ruleOf({ policy_type: 'LOG_FORBID', resource, principal, ...rest })
const permit = (resource: Draft['resource'], principal: Draft['principal'], rest: Partial<Draft> = {}): PolicyRule =>
  ruleOf({ policy_type: 'LOG_PERMIT', resource, principal, ...rest })
const seen = (policies: readonly PolicyRule[], viewer: Viewer) =>
  places.filter(visibilityOf(policies, viewer)).map((place) => `${place.collection}/${place.dataset}`)

describe('without conditions', () => {
  test('without policies everything is seen', () => {
    expect(seen([], ann)).toEqual(['shop/web', 'shop/cart', 'lab/web'])
  })

  test('a forbidden log is hidden only from the named principal', () => {
    const policies = [forbid(log(web), user(ann))]
    expect(seen(policies, ann)).toEqual(['shop/cart', 'lab/web'])
    expect(seen(policies, bob)).toHaveLength(3)
    expect(seen(policies, key)).toHaveLength(3)
  })

  test('a forbidden collection hides every log in it', () => {
    expect(seen([forbid(collection('shop'), role('Standard'))], ann)).toEqual(['lab/web'])
  })

  test('one permitted log hides all others; each further one shows one more', () => {
    expect(seen([permit(log(web), user(key))], key)).toEqual(['shop/web'])
    expect(seen([permit(log(web), user(key)), permit(collection('lab'), role('SearchApi'))], key)).toEqual(['shop/web', 'lab/web'])
    expect(seen([permit(log(web), user(key))], ann)).toHaveLength(3)
  })

  test('forbidding wins over permitting, whichever comes first', () => {
    const both = [permit(collection('shop'), user(ann)), forbid(log(web), role('Standard'))]
    expect(seen(both, ann)).toEqual(['shop/cart'])
    expect(seen(both.toReversed(), ann)).toEqual(['shop/cart'])
  })

  test('a permit for a deleted log shows nothing', () => {
    expect(seen([permit({ resource_type: 'LOG', resource_id: '99999999-9999-4999-8999-999999999999' }, user(ann))], ann)).toEqual([])
  })

  test('Administrator is the role Admin, and an id is found in any case', () => {
    expect(seen([forbid(log(web), role('Administrator'))], bob)).toEqual(['shop/cart', 'lab/web'])
    const shouted = { principal_type: 'USER', principal_id: ann.id.toUpperCase() } as const
    expect(seen([forbid({ resource_type: 'dataset', resource_id: web.id.toUpperCase() }, shouted)], ann)).toEqual(['shop/cart', 'lab/web'])
  })

  test('a user and a key with the same id are two', () => {
    expect(seen([forbid(log(web), { principal_type: 'APIKEY', principal_id: ann.id })], ann)).toHaveLength(3)
  })
})

describe('with conditions', () => {
  test('unless excepts logs from a forbidden collection', () => {
    expect(seen([forbid(collection('shop'), role('Standard'), { unless: { resources: [log(web)] } })], ann)).toEqual([
      'shop/web',
      'lab/web',
    ])
  })

  test('unless excepts people, from forbidding and from the limit of permits', () => {
    const unless = { principals: [user(ann)] }
    expect(seen([forbid(collection('shop'), role('Standard'), { unless })], ann)).toHaveLength(3)
    expect(seen([permit(log(web), role('Standard'), { unless })], ann)).toHaveLength(3)
    expect(seen([permit(log(web), role('Standard'), { unless })], { ...ann, id: bob.id })).toEqual(['shop/web'])
  })

  test('unless with people and logs excepts these people at these logs only', () => {
    const unless = { principals: [user(ann)], resources: [log(web)] }
    const policies = [forbid(collection('shop'), role('Standard'), { unless })]
    expect(seen(policies, ann)).toEqual(['shop/web', 'lab/web'])
    expect(seen(policies, { ...ann, id: bob.id })).toEqual(['lab/web'])
  })

  test('when narrows a policy to some logs and to some people', () => {
    expect(seen([forbid(collection('shop'), role('Standard'), { when: { resources: [log(cart), log(lab)] } })], ann)).toEqual([
      'shop/web',
      'lab/web',
    ])
    const policies = [forbid(collection('shop'), role('Standard'), { when: { principals: [role('Admin'), user(bob)] } })]
    expect(seen(policies, ann)).toHaveLength(3)
    expect(seen(policies, { ...ann, roles: ['Standard', 'Admin'] })).toEqual(['lab/web'])
  })

  test('a permit limits only its own principals', () => {
    expect(seen([permit(log(web), role('Standard'), { when: { principals: [user(bob)] } })], ann)).toHaveLength(3)
  })

  test('a permit still limits where its conditions except all that it names', () => {
    expect(seen([permit(collection('shop'), user(ann), { unless: { resources: [log(web)] } })], ann)).toEqual(['shop/cart'])
  })
})

test('a policy that names nothing there is, or excepts all it names, names no log', () => {
  expect(matchesAny(forbid(log(web), user(ann)), places)).toBe(true)
  expect(matchesAny(forbid(log(web), user(ann), { when: { resources: [log(cart)] } }), places)).toBe(false)
  expect(matchesAny(forbid(log(web), user(ann), { unless: { resources: [collection('shop')] } }), places)).toBe(false)
  expect(matchesAny(forbid(log(web), user(ann), { unless: { resources: [log(web)], principals: [user(ann)] } }), places)).toBe(true)
})

test('empty conditions and lists say nothing', () => {
  for (const empty of [undefined, null, {}, { resources: [], principals: [] }]) {
    expect(seen([forbid(log(web), user(ann), { when: empty, unless: empty })], ann)).toEqual(['shop/cart', 'lab/web'])
  }
  expect(seen([forbid(log(web), user(ann), { unless: { resources: [], principals: [user(ann)] } })], ann)).toHaveLength(3)
})

test('all names of a resource or principal are equivalent', () => {
  for (const type of ['LOG_SET', 'logset', 'Collection']) {
    expect(normalResource({ resource_type: type, resource_id: 'Shop' })).toEqual({ type: 'LOG_SET', id: 'Shop' })
  }
  for (const type of ['log', 'DATASET'])
    expect(normalResource({ resource_type: type, resource_id: 'AB' })).toEqual({ type: 'LOG', id: 'ab' })
  expect(normalResource({ resource_type: 'dashboard', resource_id: 'X' })).toEqual({ type: 'DASHBOARD', id: 'x' })
  expect(normalPrincipal({ principal_type: 'role', principal_id: 'Administrator' })).toEqual({ type: 'ROLE', id: 'Admin' })
})

const aPlace = fc.constantFrom(...places)
const aResource = fc.oneof(aPlace.map(log), fc.constantFrom('shop', 'lab').map(collection))
const aPrincipal = fc.oneof(fc.constantFrom(ann, bob, key).map(user), fc.constantFrom('Standard', 'Admin', 'SearchApi').map(role))
const aCondition = fc.record({ resources: fc.array(aResource, { maxLength: 3 }), principals: fc.array(aPrincipal, { maxLength: 2 }) })
const aRule = fc
  .record({
    policy_type: fc.constantFrom('LOG_FORBID' as const, 'LOG_PERMIT' as const),
    resource: aResource,
    principal: aPrincipal,
    when: aCondition,
    unless: aCondition,
  })
  .map(ruleOf)
const aViewer = fc.record({
  type: fc.constantFrom('USER' as const, 'APIKEY' as const),
  id: fc.constantFrom(ann.id, bob.id, key.id),
  roles: fc.subarray(['Standard', 'Admin', 'SearchApi']),
})

/** The reference decision, written as documented: one rule after the other, one log at a time. */
function decide(rules: readonly PolicyRule[], viewer: Viewer, place: PolicyDataset): boolean {
  const isViewer = ({ type, id }: PolicyRule['principal']) =>
    type === 'ROLE' ? viewer.roles.includes(id) : type === viewer.type && id === viewer.id
  const isPlace = ({ type, id }: PolicyRule['resource']) => id === (type === 'LOG' ? place.id : place.collection)
  const concerning = rules.filter((rule) => concerns(rule, viewer))
  const about = concerning.filter(({ resource, when, unless }) => {
    const holds = (condition: NonNullable<typeof when>) =>
      (condition.resources?.some(isPlace) ?? true) && (condition.principals?.some(isViewer) ?? true)
    return isPlace(resource) && (!when || holds(when)) && !(unless && holds(unless))
  })
  if (about.some((rule) => rule.policy_type === 'LOG_FORBID')) return false
  return !concerning.some((rule) => rule.policy_type === 'LOG_PERMIT') || about.some((rule) => rule.policy_type === 'LOG_PERMIT')
}

test('many rules at once decide as each of them read for itself', () => {
  fc.assert(
    fc.property(fc.array(aRule, { maxLength: 20 }), aViewer, aPlace, (rules, viewer, place) => {
      expect(visibilityOf(rules, viewer)(place)).toBe(decide(rules, viewer, place))
    }),
    { numRuns: 2_000 },
  )
})

test('a limited user cannot create a principal that sees more', () => {
  fc.assert(
    fc.property(fc.array(aRule, { maxLength: 6 }), aViewer, aViewer, (rules, viewer, grantee) => {
      fc.pre(!liftsLimits(rules, viewer, grantee))
      const [own, given] = [visibilityOf(rules, viewer), visibilityOf(rules, grantee)]
      expect(places.filter((place) => given(place) && !own(place))).toEqual([])
    }),
    { numRuns: 2_000 },
  )
  expect(liftsLimits([forbid(log(web), user(ann))], bob, ann)).toBe(false)
  expect(liftsLimits([permit(log(web), role('Standard'))], ann, { ...ann, id: '' })).toBe(false)
  expect(liftsLimits([permit(log(web), role('Standard'))], ann, { type: 'APIKEY', id: '', roles: ['SearchApi'] })).toBe(true)
})

test('policies that do not match a viewer change nothing', () => {
  fc.assert(
    fc.property(fc.array(aRule), aViewer, aPlace, (rules, viewer, place) => {
      const concerning = rules.filter((rule) => concerns(rule, viewer))
      expect(visibilityOf(concerning, viewer)(place)).toBe(visibilityOf(rules, viewer)(place))
      if (concerning.length === 0) expect(visibilityOf(rules, viewer)(place)).toBe(true)
    }),
  )
})

test('one more forbidding policy never shows more; one more permit next to a first never hides more', () => {
  fc.assert(
    fc.property(fc.array(aRule), aRule, aViewer, aPlace, (rules, rule, viewer, place) => {
      const before = visibilityOf(rules, viewer)(place)
      const after = visibilityOf([...rules, rule], viewer)(place)
      const isLimited = rules.some((other) => other.policy_type === 'LOG_PERMIT' && concerns(other, viewer))
      if (rule.policy_type === 'LOG_FORBID') expect(after && !before).toBe(false)
      else if (isLimited) expect(before && !after).toBe(false)
    }),
  )
})
