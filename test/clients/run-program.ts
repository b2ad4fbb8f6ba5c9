import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Runs a program to its end, with its output. The event loop stays free: the program may talk to a service in this process. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env = {}, input = '' }: { cwd?: string | undefined; env?: Record<string, string> | undefined; input?: string } = {},
): Promise<{ status: number | null; output: string }> {
  const child = spawn(program, args, { stdio: 'pipe', env: { ...process.env, ...env }, ...(cwd ? { cwd } : {}) })
  child.stdin.end(input)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk)
    })
  }
  const [status] = await once(child, 'close')
  return { status, output }
}
