import { printFilter } from '@dendro/language/print'
import { expect, test } from 'vitest'
import { onlyGroup } from './monitor-query.ts'

test('the events of a group have its values, or lack the key where the value is null', () => {
  expect(printFilter(onlyGroup({}))).toBe('*')
  expect(printFilter(onlyGroup({ 'user name': "d'or", region: 'null' }))).toBe(
    `"user name" = 'd''or' AND (region IS NULL OR region = 'null')`,
  )
})
