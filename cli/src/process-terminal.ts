import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { addAbortSignal } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { cutTo, escapeControls } from './escape.ts'
import type { Terminal } from './terminal.ts'

type Streams = Pick<NodeJS.Process, 'env' | 'stdin' | 'stdout' | 'stderr' | 'exit'>

/** The terminal of this process. */
export function openTerminal({ env, stdin, stdout, stderr, exit }: Streams, signal: AbortSignal): Terminal {
  // The reader of the output may close it early, as `head` does.
  for (const stream of [stdout, stderr]) {
    stream.on('error', (cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'EPIPE') throw cause
      exit()
    })
  }
  let progressChars = 0
  const clearProgress = () => {
    if (progressChars > 0) stderr.write(`\r${' '.repeat(progressChars)}\r`)
    progressChars = 0
  }
  return {
    env,
    signal,
    columns: stdout.isTTY ? stdout.columns : undefined,
    out: (line) => {
      clearProgress()
      stdout.write(`${line}\n`)
    },
    err: (line) => {
      clearProgress()
      // A message may quote data of the service.
      stderr.write(`${escapeControls(line, 'lines')}\n`)
    },
    write: async (piece) => {
      clearProgress()
      if (!stdout.write(piece)) await once(stdout, 'drain', { signal })
    },
    // An interruption ends a command that waits for input.
    readInput: () => text(addAbortSignal(signal, stdin)),
    input: () => addAbortSignal(signal, stdin),
    readSecret: (prompt) => (stdin.isTTY ? readHidden(stdin, stderr, prompt, signal) : firstLine(stdin)),
    isInteractive: stdin.isTTY === true && stderr.isTTY === true,
    readLine: async (prompt) => {
      clearProgress()
      const reader = createInterface({ input: stdin, output: stderr })
      // The end of the input is an empty line.
      const ended = once(reader, 'close').then(() => '')
      return Promise.race([reader.question(prompt, { signal }), ended]).finally(() => reader.close())
    },
    progress: (line) => {
      if (!stderr.isTTY) return
      const shown = cutTo(escapeControls(line), Math.max(10, (stderr.columns ?? 80) - 1))
      stderr.write(`\r${shown.padEnd(progressChars)}`)
      progressChars = shown.length
    },
  }
}

const firstLine = async (stdin: NodeJS.ReadStream): Promise<string> => (await buffer(stdin)).toString('utf8').split(/\r?\n/, 1)[0] ?? ''

/** Reads a line from the keyboard without showing it. */
async function readHidden(stdin: NodeJS.ReadStream, stderr: NodeJS.WriteStream, prompt: string, signal: AbortSignal): Promise<string> {
  stderr.write(prompt)
  stdin.setRawMode(true)
  stdin.resume()
  try {
    let line = ''
    for (;;) {
      const [piece] = (await once(stdin, 'data', { signal })) as [Buffer]
      for (const char of piece.toString('utf8')) {
        if (char === '\r' || char === '\n') return line
        if (char === '\u0003' || char === '\u0004') throw new DOMException('interrupted', 'AbortError')
        line = char === '\u007f' || char === '\b' ? [...line].slice(0, -1).join('') : line + char
      }
    }
  } finally {
    stdin.setRawMode(false)
    stdin.pause()
    stderr.write('\n')
  }
}
