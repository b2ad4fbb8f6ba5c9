import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { ConfigError } from './config-error.ts'
import { STANDARD_INPUT } from './config-files.ts'
import { escapeReferences } from './environment.ts'
import { isFields, type Kind } from './kind.ts'
import { placeOf } from './prepare.ts'
import type { WrittenDocument } from './yaml-documents.ts'

/**
 * Puts the texts of files in the place of `{ file: NAME }` in the members that allow it. The name is relative to the file of the document, and the
 * file is in its folder or below: a dry run prints the text, and the branch of a stranger must not read other files of the machine.
 */
export async function withIncludedFiles(documents: readonly WrittenDocument[], kinds: readonly Kind[]): Promise<WrittenDocument[]> {
  const problems: string[] = []
  const filled: WrittenDocument[] = []
  for (const document of documents) {
    const kind = kinds.find(({ name }) => name === document.fields.kind)
    let fields = document.fields
    for (const [member, bytesMax] of Object.entries(kind?.includes ?? {})) {
      const name = fileName(fields[member])
      if (name === undefined) continue
      const read = await includedText(document.file, name, bytesMax)
      if ('fault' in read) problems.push(`${placeOf(document, [member])}: ${member} names the file ${name}, which ${read.fault}`)
      // An included text is taken as it is: nothing in it refers to the environment.
      else fields = { ...fields, ...escapeReferences({ [member]: read.text }) }
    }
    filled.push({ ...document, fields })
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return filled
}

const fileName = (value: unknown): string | undefined =>
  isFields(value) && Object.keys(value).length === 1 && typeof value.file === 'string' ? value.file : undefined

async function includedText(document: string, name: string, bytesMax: number): Promise<{ text: string } | { fault: string }> {
  if (document === STANDARD_INPUT) return { fault: 'cannot be beside standard input' }
  try {
    const path = await realpath(resolve(dirname(document), name))
    const place = relative(await realpath(dirname(document)), path)
    if (place === '..' || place.startsWith(`..${sep}`) || isAbsolute(place)) return { fault: 'is not in the folder of the document' }
    const info = await stat(path)
    if (!info.isFile()) return { fault: 'is no file' }
    if (info.size > bytesMax) return { fault: `is larger than ${bytesMax} bytes` }
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(path)) }
  } catch (cause) {
    if (cause instanceof TypeError) return { fault: 'is not in UTF-8' }
    return { fault: `cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'error'})` }
  }
}
