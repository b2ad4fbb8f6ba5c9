import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '..')
const NODE_20 = '20.20.2'

/** The folder of a Node 20 program from npm, downloaded once into `.runtime`. */
export async function node20(): Promise<string> {
  const home = join(root, '.runtime', NODE_20)
  const name = `node-${process.platform}-${process.arch}`
  const bin = join(home, 'node_modules', name, 'bin')
  if (existsSync(bin)) return bin
  await mkdir(home, { recursive: true })
  await writeFile(join(home, 'package.json'), '{ "private": true }\n')
  await run('npm', ['install', '--prefix', home, '--no-save', '--no-package-lock', '--ignore-scripts', `${name}@${NODE_20}`], { cwd: home })
  return bin
}
