/**
 * The program of the engine child: it loads the engine's library and gives it this process. The engine serves HTTP until standard input ends,
 * which is its lifeline: the parent holds the other end, so the engine drains and leaves when the parent closes it or dies, however it dies.
 * Arguments: the path of the library, then those of the engine.
 */
import { writeSync } from 'node:fs'
import { DataType, isNullPointer, type JsExternal, load, open, restorePointer, wrapPointer } from 'ffi-rs'

const PARENT_CHECK_MS = 1_000
/** ORPHAN_MS is how long the engine may take to drain once the parent is gone; a kill is safe, so nobody waits for a stuck one. */
const ORPHAN_MS = 10_000

const [library = '', ...args] = process.argv.slice(2)
const parentPid = process.ppid

const parentCheck = setInterval(() => {
  if (process.ppid === parentPid) return
  clearInterval(parentCheck)
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), ORPHAN_MS)
}, PARENT_CHECK_MS)

open({ library: 'engine', path: library })
const argv = ['clickhouse', ...args]
const result = await load({
  library: 'engine',
  funcName: 'query_stable_v2',
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [argv.length, argv],
  // The engine needs a thread of its own with an ordinary stack; without it the parent check would never run.
  runInNewThread: true,
})
const failure = failureOf(result as JsExternal)
if (failure !== '') writeSync(process.stderr.fd, `${failure}\n`)
// The engine has shut down. An ordinary exit would run its exit handlers, which end in a segmentation fault.
load({ library: 'engine', funcName: '_exit', retType: DataType.Void, paramsType: [DataType.I32], paramsValue: [failure === '' ? 0 : 1] })

/** failureOf reads the message out of the engine's result (its struct `local_result_v2`): what is wrong with options stands nowhere else. */
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
