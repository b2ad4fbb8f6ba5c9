const LENGTH_MIN = 12
const LENGTH_MAX = 128
const DISTINCT_MIN = 5
const WORD_LENGTH_MIN = 3

/** Personal words that a password must not consist of. */
export type PersonalWords = { email: string; first_name: string; last_name: string }

/**
 * Returns the rule that a new password breaks, phrased to follow "the password". There are no composition rules: length counts, and not being easy to
 * guess.
 */
export function brokenRule(password: string, whose: PersonalWords): string | undefined {
  const text = password.normalize('NFKC')
  const length = [...text].length
  if (length < LENGTH_MIN || length > LENGTH_MAX) return `must have ${LENGTH_MIN} to ${LENGTH_MAX} characters`
  if (new Set(text).size < DISTINCT_MIN) return 'repeats too few different characters'
  if (isSequence(text)) return 'is a plain sequence of characters'
  if (isRepetition(text)) return 'repeats one short piece'
  const core = coreOf(text)
  const own = wordsOf(whose)
  if (core !== '' && isMadeOf(core, own)) return 'is made of the name or the e-mail of its owner'
  if (core !== '' && isMadeOf(core, new Set([...COMMON, ...own]))) return 'is a common one, and among the first that anybody would try'
  return undefined
}

const ROWS = [
  'abcdefghijklmnopqrstuvwxyz',
  '0123456789',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
]

/** Detects runs along the alphabet, the digits or the keyboard, in both directions, starting anywhere. */
function isSequence(text: string): boolean {
  const lower = text.toLowerCase()
  const backwards = [...lower].reverse().join('')
  return ROWS.some((row) => {
    const endless = row.repeat(Math.ceil(lower.length / row.length) + 1)
    return endless.includes(lower) || endless.includes(backwards)
  })
}

/** Detects texts such as abcabcabcabc. A piece of half the length is acceptable if it is long enough to be a password itself. */
function isRepetition(text: string): boolean {
  const period = (text + text).indexOf(text, 1)
  return period < text.length && period < LENGTH_MIN
}

const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    '@': 'a',
    '4': 'a',
    '3': 'e',
    '0': 'o',
    $: 's',
    '5': 's',
    '7': 't',
    '1': 'i',
    '!': 'i',
  }),
)

/** Removes the usual decorations: case, surrounding digits and signs, digits that look like letters, separators. */
function coreOf(text: string): string {
  const bare = text.toLowerCase().replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '')
  return [...bare]
    .map((char) => LOOKALIKES.get(char) ?? char)
    .join('')
    .replace(/[^\p{L}]/gu, '')
}

function wordsOf({ email, first_name, last_name }: PersonalWords): ReadonlySet<string> {
  const pieces = [email, email.split('@')[0] ?? '', ...email.split(/[@.+_-]/), ...first_name.split(/\s+/), ...last_name.split(/\s+/)]
  return new Set(pieces.map(coreOf).filter((word) => word.length >= WORD_LENGTH_MIN))
}

/** Reports whether the text is a concatenation of words of the set. */
function isMadeOf(text: string, words: ReadonlySet<string>): boolean {
  const reached = new Set([0])
  for (let start = 0; start < text.length; start += 1) {
    if (!reached.has(start)) continue
    for (const word of words) if (text.startsWith(word, start)) reached.add(start + word.length)
  }
  return reached.has(text.length)
}

/** The most frequent words in lists of leaked passwords, in the form that coreOf returns. */
const COMMON: readonly string[] = `
  access admin administrator alexander andrea angel animal apple arsenal asdf asdfgh asdfghjkl ashley august autumn baby backup banana baseball
  basketball batman beautiful blink bonjour buster butterfly cafe change changeit changeme charlie cheese chelsea chocolate computer cookie
  correct dallas daniel data database december default demo dendro dragon eagle elephant enter facebook family february flower football forever
  freedom friday friend friends fuckyou george ginger google guest hallo hannah happy harley hello home hottie hunter iloveu iloveyou initial
  internet jackson january jennifer jessica jesus jordan joshua july june justin killer kitten letmein liverpool log login logs london love lovely
  loveme lovers maggie manager march master matrix matthew mercedes michael michelle mickey monday money monkey monster morning muster mustang mysql
  naruto network nicole ninja nothing november october office operator oracle orange owner pass passcode passwd password passwort peanut pepper
  phone pizza please pokemon power princess private purple qazwsx qwer qwert qwerty qwertyuiop qwertz rainbow ranger robert root sample samsung
  saturday secret secure security september server service shadow silver slipknot snoopy soccer sommer spiderman spring start starwars summer sunday
  sunflower sunshine super superman support sweet sysadmin system teacher temp temporary test tester testing thank thanks thomas thunder thursday
  tigger tinkerbell today tomorrow trust trustno tuesday user username vampire wednesday welcome wellcome whatever william winter wizard wonder
  work yankees yellow you your zxcvbnm my the me is it in abc aaa xyz
`
  .trim()
  .split(/\s+/)
