import { runCommand } from './program.ts'
import type { Terminal } from './terminal.ts'

export type Ran = { status: number; out: string; err: string }
type Given = {
  env?: Record<string, string>
  input?: string | AsyncIterable<Uint8Array>
  columns?: number
  signal?: AbortSignal
  /** The line that a person types; without it, there is no terminal. */
  typed?: string
  onOut?: (line: string) => void
}

/** Runs one command line in this process, with the output as text. */
export async function runCaptured(words: readonly string[], given: Given = {}): Promise<Ran> {
  const [out, err]: [string[], string[]] = [[], []]
  const status = await runCommand(words, capturingTerminal(given, out, err))
  return { status, out: out.join('').replace(/\n$/, ''), err: err.join('').replace(/\n$/, '') }
}

export function capturingTerminal(
  { env = {}, input = '', columns, signal, typed, onOut }: Given,
  out: string[] = [],
  err: string[] = [],
): Terminal {
  const written = (text: string) => {
    out.push(text)
    onOut?.(out.join(''))
  }
  const decoder = new TextDecoder()
  return {
    env,
    columns,
    signal: signal ?? new AbortController().signal,
    out: (line) => written(`${line}\n`),
    err: (line) => void err.push(`${line}\n`),
    write: async (text) => written(typeof text === 'string' ? text : decoder.decode(text, { stream: true })),
    readInput: async () => (typeof input === 'string' ? input : ''),
    input: () => (typeof input === 'string' ? pieces(input) : input),
    readSecret: async () => (typeof input === 'string' ? (input.split('\n')[0] ?? '') : ''),
    isInteractive: typed !== undefined,
    readLine: async () => typed ?? '',
    progress: () => undefined,
  }
}

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}
