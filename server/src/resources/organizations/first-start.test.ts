import { expect, test } from 'vitest'
import { openTestApp } from '../../../../test/world.ts'

test('a start with another master key than the deployment’s is refused with a sentence', async () => {
  const app = await openTestApp()
  try {
    await expect(openTestApp({ DENDRO_MASTER_KEY: 'another key altogether, as good as any' })).rejects.toThrow(
      'the master key is not the one of this deployment',
    )
  } finally {
    await app.close()
  }
})
