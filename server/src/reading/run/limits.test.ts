import { expect, test } from 'vitest'
import { queryBoundsOf } from './limits.ts'

const limit = { otherwise: 4, byRole: new Map<string, number>() }
const settings = {
  DENDRO_QUERY_RUNNING: limit,
  DENDRO_QUERY_WAITING: limit,
  DENDRO_QUERY_RUNNING_ORG: undefined,
  DENDRO_QUERY_RUNNING_ALL: undefined,
  DENDRO_CLICKHOUSE_URL: undefined,
}
const bounds = (more: Partial<Parameters<typeof queryBoundsOf>[0]>, cores: number) => {
  const { running, perOrg, perOrgShared, reserved } = queryBoundsOf({ ...settings, ...more }, cores)
  return { running, perOrg, perOrgShared, reserved }
}

test('with the embedded engine, organizations that are active together run one query per core each', () => {
  expect(bounds({}, 2)).toEqual({ running: 8, perOrg: 6, perOrgShared: 2, reserved: 2 })
  expect(bounds({}, 16)).toEqual({ running: 64, perOrg: 48, perOrgShared: 16, reserved: 16 })
  expect(bounds({ DENDRO_QUERY_RUNNING_ALL: 1 }, 1)).toEqual({ running: 1, perOrg: 1, perOrgShared: 1, reserved: 0 })
})

test('with an external server or a configured limit, an organization runs as many queries as alone', () => {
  expect(bounds({ DENDRO_CLICKHOUSE_URL: 'http://store' }, 2)).toMatchObject({ perOrg: 6, perOrgShared: 6 })
  expect(bounds({ DENDRO_QUERY_RUNNING_ORG: 5 }, 2)).toMatchObject({ perOrg: 5, perOrgShared: 5 })
})
