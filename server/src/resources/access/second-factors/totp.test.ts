import { expect, test } from 'vitest'
import { base32, codeOfStep, stepOfCode, totpAddress } from './totp.ts'

const key = Buffer.from('12345678901234567890')

/** Appendix B of RFC 6238, the last six digits. */
test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('the code at %i seconds is that of the standard', (seconds, code) => {
  expect(codeOfStep(key, Math.floor(seconds / 30))).toBe(code)
})

test('a code counts in its step and the ones around it, and once', () => {
  const step = 41_152_263
  const code = codeOfStep(key, step)
  for (const around of [-1, 0, 1]) expect(stepOfCode(key, code, (step + around) * 30_000, 0)).toBe(step)
  for (const around of [-2, 2]) expect(stepOfCode(key, code, (step + around) * 30_000, 0)).toBeUndefined()
  expect(stepOfCode(key, code, step * 30_000, step)).toBeUndefined()
  expect(stepOfCode(key, code, step * 30_000, step - 1)).toBe(step)
  for (const wrong of ['', '12345', '1234567', 'abcdef', '１２３４５６']) expect(stepOfCode(key, wrong, step * 30_000, 0)).toBeUndefined()
})

test('keys are written in base 32', () => {
  expect(base32(key)).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')
  expect(base32(Buffer.from('f'))).toBe('MY')
  expect(totpAddress('ABC', 'ada+1@example.org')).toContain('Dendro:ada%2B1%40example.org?secret=ABC&issuer=Dendro')
})
