import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const versions = { 18: '18.20.8', 20: '20.20.2' }

/** The folder of an older Node program from npm, downloaded once into `.runtime`. */
export async function olderNode(major: keyof typeof versions): Promise<string> {
  const version = versions[major]
  const home = join(root, '.runtime', version)
  const name = `node-${process.platform}-${process.arch}`
  const bin = join(home, 'node_modules', name, 'bin')
  if (existsSync(bin)) return bin
  await mkdir(home, { recursive: true })
  await writeFile(join(home, 'package.json'), '{ "private": true }\n')
  await run('npm', ['install', '--prefix', home, '--no-save', '--no-package-lock', '--ignore-scripts', `${name}@${version}`], { cwd: home })
  return bin
}
