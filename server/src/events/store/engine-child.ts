/**
 * The program of the engine child. It loads the engine's library, which serves HTTP in this process until its prompt ends. The parent holds
 * the other end of standard input, the lifeline. When the parent closes it or dies, this program ends the prompt, and the engine drains and
 * exits. Arguments: the path of the library, then those of the engine.
 *
 * The prompt runs on a pseudo-terminal without a user. Without a terminal the engine takes itself for a script and ends the whole process
 * when a connection breaks at the wrong moment: one port scan would be an outage.
 */
import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { Socket } from 'node:net'
import { DataType, isNullPointer, type JsExternal, load, open, restorePointer, wrapPointer } from 'ffi-rs'

/** How long the engine may take to exit without a parent. Killing it is safe, so a stuck engine is not waited for. */
const ORPHAN_MS = 10_000
const PARENT_CHECK_MS = 1_000

const [library = '', ...args] = process.argv.slice(2)
// An engine that is killed, and one that exits as below, would never write the code that Node has compiled.
flushCompileCache()
open({ library: 'engine', path: library })
const terminal = openTerminal()
watchLifeline(systemCall('dup', 0), () => closeSync(terminal.keyboard))
systemCall('dup2', terminal.screen, 0)
const failure = await runEngine(['clickhouse', ...args])
if (failure !== '') writeSync(process.stderr.fd, `${failure}\n`)
// The engine has shut down. A normal exit would run its exit handlers, which end in a segmentation fault.
systemCall('_exit', failure === '' ? 0 : 1)

/** Opens a pseudo-terminal. Its screen becomes standard input; closing the keyboard ends it. */
function openTerminal(): { keyboard: number; screen: number } {
  const keyboard = systemCall('posix_openpt', constants.O_RDWR | constants.O_NOCTTY)
  systemCall('grantpt', keyboard)
  systemCall('unlockpt', keyboard)
  const name = load({
    library: 'engine',
    funcName: 'ptsname',
    retType: DataType.String,
    paramsType: [DataType.I32],
    paramsValue: [keyboard],
  })
  return { keyboard, screen: openSync(name, constants.O_RDWR | constants.O_NOCTTY) }
}

/** Calls `ended` once when the parent closes its end or dies, and kills this process if it is still running some time later. */
function watchLifeline(lifeline: number, ended: () => void): void {
  const parentPid = process.ppid
  new Socket({ fd: lifeline, readable: true, writable: false })
    .on('error', () => undefined)
    .once('close', ended)
    .resume()
  const check = setInterval(() => {
    if (process.ppid === parentPid) return
    clearInterval(check)
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), ORPHAN_MS)
  }, PARENT_CHECK_MS)
}

/** Resolves when the engine has exited, with its error message or ''. */
async function runEngine(argv: readonly string[]): Promise<string> {
  const result = await load({
    library: 'engine',
    funcName: 'query_stable_v2',
    retType: DataType.External,
    paramsType: [DataType.I32, DataType.StringArray],
    paramsValue: [argv.length, argv],
    // The engine needs its own thread with an ordinary stack; otherwise nothing would watch the lifeline.
    runInNewThread: true,
  })
  return failureOf(result as JsExternal)
}

/** Reads the message from the engine's result (its struct `local_result_v2`), the only place that explains wrong options. */
function failureOf(result: JsExternal): string {
  const [fields] = restorePointer({
    paramsValue: wrapPointer([result]),
    retType: [
      {
        buf: DataType.External,
        len: DataType.U64,
        vec: DataType.External,
        elapsed: DataType.Double,
        rows_read: DataType.U64,
        bytes_read: DataType.U64,
        error_message: DataType.External,
      },
    ],
  }) as unknown as [{ error_message: JsExternal }]
  if (isNullPointer(fields.error_message)) return ''
  const [text] = restorePointer<DataType.String>({ paramsValue: wrapPointer([fields.error_message]), retType: [DataType.String] })
  return text ?? ''
}

/** Finds a function of the C library through the engine's library, which is linked to it under any name. */
function systemCall(name: string, ...params: readonly number[]): number {
  const status = load({
    library: 'engine',
    funcName: name,
    retType: DataType.I32,
    paramsType: params.map(() => DataType.I32),
    paramsValue: [...params],
  })
  if (status < 0) {
    writeSync(process.stderr.fd, `the event engine needs a pseudo-terminal, and ${name} failed\n`)
    process.exit(1)
  }
  return status
}
