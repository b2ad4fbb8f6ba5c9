import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { UsageError } from '../failure.ts'
import type { Terminal } from '../terminal.ts'
import { ConfigError } from './config-error.ts'
import type { WrittenDocument } from './yaml-documents.ts'

/** The name of standard input in messages. */
export const STANDARD_INPUT = 'standard input'
const FILES_MAX = 10_000
const FILE_BYTES_MAX = 32 * 1024 * 1024

/** Reads all documents of files and folders; `-` is standard input. All problems are reported at once. */
export async function readConfigFiles(paths: readonly string[], terminal: Terminal): Promise<WrittenDocument[]> {
  // Only these commands need the YAML library, which would slow the start of all others.
  const { parseDocuments } = await import('./yaml-documents.ts')
  const documents: WrittenDocument[] = []
  const problems: string[] = []
  for (const path of paths) {
    for (const file of path === '-' ? ['-'] : await yamlFilesIn(path)) {
      const text = file === '-' ? await terminal.readInput() : await readText(file)
      const parsed = parseDocuments(file === '-' ? STANDARD_INPUT : file, text)
      documents.push(...parsed.documents)
      problems.push(...parsed.problems)
    }
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return documents
}

/** A file, or the YAML files of a folder and of the folders in it, sorted by name. Hidden ones are left out. */
async function yamlFilesIn(path: string): Promise<string[]> {
  const info = await stat(path).catch((cause: Error) => {
    throw new UsageError(`--file: ${cause.message}`)
  })
  if (!info.isDirectory()) return [path]
  const files = await filesWithin(path)
  if (files.length === 0) throw new UsageError(`--file: ${path} has no .yaml or .yml file`)
  return files
}

async function filesWithin(folder: string): Promise<string[]> {
  const entries = (await readdir(folder, { withFileTypes: true }))
    .filter(({ name }) => !name.startsWith('.'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const files: string[] = []
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) files.push(...(await filesWithin(path)))
    else if (/\.ya?ml$/.test(entry.name)) files.push(path)
    if (files.length > FILES_MAX) throw new UsageError(`--file: ${folder} has more than ${FILES_MAX} files`)
  }
  return files
}

async function readText(file: string): Promise<string> {
  if ((await stat(file)).size > FILE_BYTES_MAX) throw new UsageError(`--file: ${basename(file)} is larger than ${FILE_BYTES_MAX} bytes`)
  return readFile(file, 'utf8')
}

/** Writes each file in one step, so that no half of a file is ever applied. */
export async function writeConfigFile(folder: string, name: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const draft = join(folder, `.${name}.${randomUUID()}`)
  await writeFile(draft, text)
  await rename(draft, join(folder, name))
}
