import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arcPath, squares } from './geometry.ts'

test('tiles are proportional to their values, inside the box, and do not overlap', () => {
  const values = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(values, (given) => {
      const sorted = given.toSorted((a, b) => b - a)
      const all = sorted.reduce((sum, value) => sum + value, 0)
      const boxes = squares(sorted, { x: 0, y: 0, w: 100, h: 50 })
      expect(boxes).toHaveLength(sorted.length)
      for (const [at, { x, y, w, h }] of boxes.entries()) {
        expect(w * h).toBeCloseTo((5_000 * (sorted[at] ?? 0)) / all, 6)
        expect(Math.min(x, y)).toBeGreaterThan(-1e-9)
        expect(x + w).toBeLessThan(100 + 1e-6)
        expect(y + h).toBeLessThan(50 + 1e-6)
      }
      // Together they fill the box, so none can lie on another within it.
      expect(boxes.reduce((sum, { w, h }) => sum + w * h, 0)).toBeCloseTo(5_000, 6)
    }),
  )
})

test('a full circle is drawn, and a half ends at the bottom', () => {
  expect(arcPath(0, 1)).toContain('A1 1 0 1 1')
  expect(arcPath(0, 0.5)).toMatch(/^M0\.0000 -1\.0000A1 1 0 0 1 0\.0000 1\.0000/)
})
