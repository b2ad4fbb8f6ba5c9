import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

type Package = {
  version?: string
  os?: string[]
  cpu?: string[]
  integrity?: string
  link?: boolean
  optionalDependencies?: Record<string, string>
}

const { packages } = JSON.parse(readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8')) as {
  packages: Record<string, Package>
}

/** Where a package resolves another: below itself, then below each enclosing package. */
function found(from: string, name: string): Package | undefined {
  const own = packages[`${from === '' ? '' : `${from}/`}node_modules/${name}`]
  if (own || from === '') return own
  const at = from.lastIndexOf('/node_modules/')
  return found(at < 0 ? '' : from.slice(0, at), name)
}

test('the lock file names every optional package of every platform: without one of them `npm ci` refuses it', () => {
  const lost = Object.entries(packages).flatMap(([from, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !found(from, name)),
  )
  expect(lost).toEqual([])
})

test('packages without a checksum belong to other platforms than that of the lock file', () => {
  const plain = Object.entries(packages).filter(([path, { link, integrity }]) => path.includes('node_modules/') && !link && !integrity)
  const ofHere = plain.filter(
    ([path, { os, cpu }]) => !path.includes('musl') && (os ?? ['linux']).includes('linux') && (cpu ?? ['x64']).includes('x64'),
  )
  expect(ofHere.map(([path]) => path)).toEqual([])
})
