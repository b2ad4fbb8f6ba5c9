/** Judges words of messages: what they look like, and whether they say what happened or name a thing. */

/**
 * Words of messages that say what happened. Values seldom are such words, so a position that holds them is constant. Inflected forms are
 * recognized by their endings.
 */
const VOCABULARY = new Set(
  `a able abort about above abnormal absent accept access account ack across action active actual add address admin admit after again agent alarm
  alert alias alive all alloc allow already also alter always am an and answer any api app append apply are area arg argument array as ask assert
  assign at attach attempt attribute audit auth auto available await away back backend backup bad balance bandwidth base basic batch be because become
  been before begin behind being below best between beyond big bind bit bits block board body boot both bottom bound break bridge broken buffer bug
  build built bus busy but button by byte bytes cache call caller can cancel cannot capacity card case cause cert certificate chain change channel char
  character charge check checksum child children chunk class clean clear client clock clone close cluster code collect collection column command commit
  common compact compare compile complete component compute condition config configure confirm conflict connect connection console consistent consumer
  contact container content context continue control cookie copy core corrupt could count counter cpu crash create credential critical cron
  current custom cycle daemon damage data database dataset date day days dead deadline deadlock debug decline decode decrease deep default defer
  define degrade delay delete deliver delta deny depend deploy depth describe descriptor destination destroy detach detail detect device did different
  digest dir direct directory dirty disable discard disconnect discover disk dispatch display dns do does domain done door double down download drain
  drive driver drop due dump duplicate duration during each early edge edit effect eject elapse elapsed element elect else emergency empty enable encode
  end endpoint engine enough enter entire entry enum env environment epoch equal err error escape establish estimate evaluate event every evict exact
  exceed except exception exchange exclude execute exist exit expand expect expire explicit export express extend external extra extract fail failure
  fallback false family fast fatal fault feature fetch few field file fill filter final find fine finish firewall firmware first fix flag flap flush
  folder follow for force foreign fork form format forward found fragment frame free frequency from front full function further future gap garbage
  gateway general get give given global go gone good got graceful grant graph great group grow guest guard half halt handle handler handshake hang hard
  hardware has hash have he head header health healthy heap heartbeat held hello help here hidden high hint hit hold hole home hook host hot hour hours
  how http https id idle if ignore illegal image immediate import in inbound incoming include incoming incomplete incorrect increase index info inform
  init initial inject inner input insert inside inspect install instance instead insufficient integrity intend interface internal interrupt interval
  into invalid invoke io ip is isolate issue it item its itself job join journal jump just keep kernel key kick kill kind know known label large last
  late latency later launch layer lead leader leak learn lease least leave left length less level library license life lifetime like limit line link list
  listen listener little live load loader local locate lock log login logout long longer look lookup loop lose loss lost low machine mail main maintain
  major make malformed manage manager manual many map mark mask master match max maximum may mean measure media member memory merge message meta
  metadata method metric middle migrate min minimum minor minute minutes mirror miss mismatch mode model module monitor month more most mount move
  much multiple must mutex my name native near need negative neighbor neither network never new next no node non none nor normal not note nothing
  notice notify now null number object obtain occur of off offer offline offset ok okay old on once one online only opaque open operation operator option
  or order other our out outbound outer output outside over overflow overload override own owner pack package packet page pair panic parameter parent
  parity parse part partial partition pass password path patch pause payload payment peer pending per percent perform period permanent permission permit
  persist phase physical pick pid ping pipe place plan platform play player please plugin point policy poll pool port position positive possible post power
  prefix prepare present preserve press pressure prevent previous primary print prior priority private probe problem proceed process processor
  profile program progress promote protocol provide provider proxy public publish pull purge push put query queue quick quiet quit quota quorum race raise
  range rank rate rather raw reach read reader ready real reason reboot rebuild receive recent recipient recognize record recover recovery
  recycle redirect reduce refer reference refresh refuse region register registry reject relay release reload remain remote remove rename renew repair
  repeat replace replica reply report repository request require reschedule reserve reset resize resolve resource respond response restart restore restrict result
  resume retain retry return reuse revert review revoke right ring role roll rollback root route router routine row rule run runner running runtime safe same
  sample save scan schedule scheduler schema scope script search second seconds secret section sector secure see seek segment select self send sender sensor
  sent sequence serial serve server service session set setup several severe shard share shared shell shift short should show shut shutdown side sign signal
  signature silent similar simple since single site size skip slave sleep slot slow small snapshot so socket soft software some soon sort source space
  spare spawn special specify speed spend split stable stack stage stale standby standard start startup stat state statement static status
  step still stop storage store stored stream strict string strong structure sub subject submit subscribe succeed success such sudden suffix suggest
  suitable sum summary supply support suspend swap switch symbol sync synchronous syntax system table tag take target task tcp tell temp temperature
  template temporary tenant term terminal test text than that the their them then there these they thing this thread threshold throttle through
  throw tick ticket time timeout timer timestamp to today together token too took tool top topic total touch trace traffic transaction transfer
  transform transient transition translate transmit transport trash traversal tree trigger trim true truncate trust try tunnel turn twice two type udp unable
  unavailable under unexpected unexpectedly unhealthy unique unit unknown unlock unmount unreachable unregister unresponsive unsafe unset unstable unsupported
  until unused up update upgrade uplink upload upon uptime upstream url usage use user using usual valid validate value variable vendor verbose verify version
  very via view violation virtual visible voltage volume vote wait wake walk want warm warn warning was watch watchdog we weak web week went were
  what when where whether which while who whole why wide width will window with within without word work worker workspace worth would wrap write writer wrong year yes yet
  you your zero zone
  increment decrement handshaking ack nack syn fin rst
  charge invoice refund cart checkout sale shipment customer
  hardware software firmware kernel fan battery disk cable lid screen keyboard mouse touchpad camera bluetooth wifi wireless`
    .split(/\s+/)
    .filter(Boolean),
)

/** Verbs and states, besides participles by their endings: what a message says about its subject. They are never names. */
const OUTCOMES = new Set(
  `began bought broke broken built came chose done drawn drove fell felt gave got grew heard held kept knew laid led left lent let lost made met paid put ran
  read rose said sat saw sent set shown shut sold spent split stood stuck taken taught told thought threw thrown understood woke won wrote written
  abort accept activate add allow cancel close commit complete connect create deactivate delete deny disable disconnect drop enable enter exit expire fail
  finish leave load login logout mount open pass pause reboot reject release reload remove reset restart restore resume retry save send skip start stop
  succeed suspend sync timeout unload unmount update
  active alive available bad broken busy clean cold complete critical dead degraded dirty done down empty error failure fatal full good healthy high hot idle
  inactive invalid live low medium minor moderate nominal normal null nil none off offline ok okay on online optional out over present quiet ready red running
  safe severe silent slow stable stale standby success true false unavailable unhealthy unknown unreachable up valid void warm yes no
  in inbound outbound incoming outgoing left right primary secondary master slave leader follower
  debug info notice trace verbose warn warning emerg crit alert
  get head options patch post put copy move propfind ack nack syn fin rst`
    .split(/\s+/)
    .filter(Boolean),
)
const PARTICIPLE = /^[a-z]{2,}(?:ed|ing)$/

/** Endings of participles, adverbs, adjectives and abstract nouns, after at least three letters. */
const ENDING = /^[a-z]{2,}(?:ed|ing|tion|sion|ment|ness|able|ible|ful|less|ity|ance|ence|ized|ised|ously|ally|ately|ently|ive|ous)$/
const PLURAL = /^([a-z]{2,}?)(?:s|(?<=s|x|ch|sh)es)$/

/** True for words that say what happened, in any case: verbs, states, common nouns. */
export function isVocabulary(word: string): boolean {
  const lower = word.toLowerCase()
  if (VOCABULARY.has(lower) || OUTCOMES.has(lower) || ENDING.test(lower)) return true
  const [, stem] = PLURAL.exec(lower) ?? []
  return stem !== undefined && VOCABULARY.has(stem)
}

/**
 * What a word looks like. `value` holds a mask, a digit or a sign that names have not; `outcome` is a verb or a state; `upper` is an abbreviation or a constant; `prose` is other
 * vocabulary; `coined` is a compound of vocabulary, `compound` another one; `name` is any other word; `sign` is punctuation.
 */
export type WordClass = 'value' | 'compound' | 'coined' | 'outcome' | 'upper' | 'prose' | 'name' | 'sign'

const UPPER = /^[A-Z][A-Z_-]+$/
const WORD = /^\p{L}+(?:'\p{L}+)?$/u
const SIGN = /^[^\p{L}\p{N}\0]+$/u
/** Where one part of a compound name ends and the next begins: suspendAutohide, card_declined, overlap:false. */
/** A phrase of capitalized words within a sentence is a name (form.ts joins it). */
const PHRASE = /\S \S/
const SEAM = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|[_:/-]+|\.(?=.)/u
/** A name with an ending, such as build.log. */
const FILE = /^[\w-]+\.[a-z]{1,7}$/i
const PARTS_VOCABULARY_MIN = 0.5

const classes = new Map<string, WordClass>()
const CLASSES_MAX = 50_000

export function classOf(word: string): WordClass {
  const known = classes.get(word)
  if (known) return known
  if (classes.size >= CLASSES_MAX) classes.clear()
  const found = judged(word)
  classes.set(word, found)
  return found
}

function isOutcome(word: string): boolean {
  const lower = word.toLowerCase()
  return OUTCOMES.has(lower) || PARTICIPLE.test(lower)
}

function judged(word: string): WordClass {
  if (SIGN.test(word)) return 'sign'
  if (UPPER.test(word)) return isOutcome(word) ? 'outcome' : 'upper'
  if (PHRASE.test(word)) return 'name'
  if (WORD.test(word) && isOutcome(word)) return 'outcome'
  if (WORD.test(word) && isVocabulary(word)) return 'prose'
  const parts = word.split(SEAM).filter(Boolean)
  if (parts.length === 1) return WORD.test(word) ? 'name' : 'value'
  if (!parts.every((part) => WORD.test(part))) return 'value'
  if (FILE.test(word)) return 'compound'
  return parts.filter(isVocabulary).length / parts.length > PARTS_VOCABULARY_MIN ? 'coined' : 'compound'
}

const PREPOSITIONS = new Set('by for from to of on at in into via with as'.split(' '))
/** Nouns of things that have names: a name often follows them. */
const NOUNS = new Set(
  `user host node named called name account customer client member group role tenant database table index queue topic bucket volume container image pod
  service unit device interface partition region zone country currency team domain server peer neighbor rule policy job task module plugin package file
  directory folder disk drive player agent patient ward map item key label tag branch channel codec profile network protocol address class cache thread
  worker runner resource list routine function procedure`.split(/\s+/),
)

/** True for nouns of things that have names, as `service` in `the print service`. */
export const takesName = (noun: string): boolean => NOUNS.has(noun.toLowerCase())

/** How much grammar expects a name after a word: 0 not at all, 1 after a preposition, 2 after a noun that takes a name or an equals sign. */
export function expectsName(before: string): 0 | 1 | 2 {
  if (before === '=') return 2
  return takesName(before) ? 2 : PREPOSITIONS.has(before.toLowerCase()) ? 1 : 0
}
