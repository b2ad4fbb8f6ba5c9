import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MessageHash } from '../lines/shredder/message-hash.ts'
import { templateOf } from './pattern.ts'
import { hashToBigint, maskedHash, maskedText, skeletonHash, skeletonText } from './skeleton.ts'

test.each([
  ['connection from 10.1.2.3 (n7.example.net.tw) at Fri Jun 3 2005', 'connection from <*> (<*>) at <*> <*> <*> <*>'],
  ['connection from 10.1.2.3 () at Mon Jun 13 2005', 'connection from <*> (<*>) at <*> <*> <*> <*>'],
  ['session opened for user cyrus by (uid=0)', 'session opened for user <*> by (uid=<*>)'],
  ['session closed for user root', 'session closed for user <*>'],
  ['the user is locked', 'the user is locked'],
  ['Deleting block blk_12 file /mnt/data/subdir3/blk_12', 'Deleting block blk_<*> file <*>'],
  ['ask 10.0.0.1:80 to delete blk_1 blk_22 blk_333', 'ask <*> to delete blk_<*>'],
  ['task_1445062781478_0011_m_000000 went from NEW to SCHEDULED', 'task_<*> went from NEW to SCHEDULED'],
  ['acquire lock=23, tag="View Lock", name=android, ws=null', 'acquire lock=<*>, tag="<*>", name=<*>, ws=<*>'],
  ['acquire lock=23, tag="View Lock", name=a.b.c, ws=WorkSource{10113}', 'acquire lock=<*>, tag="<*>", name=<*>, ws=<*>'],
  ['logname= uid=0 rhost=', 'logname= uid=<*> rhost='],
  ['received broadcast android.intent.action.TIME_TICK', 'received broadcast android.intent.action.TIME_TICK'],
  ['failed: java.io.IOException: broken pipe', 'failed: java.io.IOException: broken pipe'],
  ['Registering class org.apache.hadoop.JobEventType', 'Registering class <*>'],
  ['GET /api/v1/users/17/orders 200', 'GET <*> <*>'],
  ['read/write and/or client/server', 'read/write and/or client/server'],
  ['see https://example.com/a/b?c=1 for more.', 'see <*> for more.'],
  ['speeds ( 3552 3534 **** 3552 )', 'speeds ( <*> <*> **** <*> )'],
  ['took 12 ms', 'took <*> ms'],
  ['a plain sentence, nothing else.', 'a plain sentence, nothing else.'],
  ['', ''],
])('%s has the template %s', (message, template) => {
  expect(templateOf(skeletonText(message))).toBe(template)
})

const words = fc.constantFrom(
  'user',
  'Jun',
  'Fri',
  'a=b',
  'x=',
  '{y}',
  '/a/b',
  'a.b.c',
  '\0',
  'n\0_m_\0',
  '()',
  'by',
  'end.',
  '\0,',
  '"q"',
  '=',
  ':',
  '://',
)
const messages = fc.oneof(
  fc.array(words, { maxLength: 12 }).map((list) => list.join(' ')),
  fc.array(words).map((list) => list.join('')),
  fc.string({ unit: 'binary' }),
)

test('messages of one pattern have one hash, and others another', () => {
  fc.assert(
    fc.property(messages, messages, (a, b) => {
      const same = skeletonText(a) === skeletonText(b)
      expect(hashToBigint(skeletonHash(a)) === hashToBigint(skeletonHash(b))).toBe(same)
    }),
    { numRuns: 5_000 },
  )
  const [known, again] = ['user bob by 1', 'user bob by 1'].map((message) => hashToBigint(skeletonHash(message)))
  expect(known).toBe(again)
  expect(maskedText('x 1')).toBe('x \0')
})

const pieces = fc.constantFrom(
  ...'user User Jun June, Junes Fri Friday Fridays, Sat, by from , . : / :// = _ - $ ! ? () ( ) { } < > | é 12 ab12 cafe0001 a b x.y.z java.io.IOError a.B_C'.split(
    ' ',
  ),
  ' ',
  '  ',
  '\0',
  '\n',
)

const hash = new MessageHash()
function hashed(bytes: Uint8Array, start = 0, end = bytes.length): { high: number; low: number } {
  hash.hash(bytes, start, end)
  return { high: hash.high, low: hash.low }
}

test('the kernel hashes any message as its pattern, wherever it lies', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        messages,
        fc.array(pieces, { maxLength: 40 }).map((list) => list.join('')),
      ),
      fc.constantFrom('', 'x', '12', ': ', ':ab', '"'),
      fc.constantFrom('', 'x', '12', ':', ':ab', '"'),
      (message, before, after) => {
        const expected = maskedHash(skeletonText(message))
        expect(skeletonHash(message)).toEqual(expected)
        const start = Buffer.byteLength(before)
        const bytes = Buffer.from(before + message + after)
        expect(hashed(bytes, start, start + Buffer.byteLength(message))).toEqual(expected)
      },
    ),
    { numRuns: 20_000 },
  )
})

test('a message that is cut within a character or is not UTF-8 has the hash of its pattern with replacement characters', () => {
  for (const bytes of [Buffer.from('é'.repeat(600)), Buffer.from(`x${'é'.repeat(600)}`), Buffer.from([0x61, 0x3d, 0xff, 0x20, 0xc3])]) {
    expect(hashed(bytes)).toEqual(skeletonHash(bytes))
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      expect(hashed(bytes)).toEqual(skeletonHash(bytes))
    }),
    { numRuns: 5_000 },
  )
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', minLength: 900, maxLength: 1_100 }),
      fc.constantFrom('ab:cd:ef', "'x y'", '12:', ' user a by'),
      (text, end) => {
        const bytes = Buffer.from(text.slice(0, 1_020 - end.length + (text.length % 8)).padEnd(1_018, ' ') + end.repeat(3))
        expect(hashed(bytes)).toEqual(skeletonHash(bytes))
      },
    ),
    { numRuns: 2_000 },
  )
})
