import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

/** Keeps the left column of the glossary in docs/style.md out of names, headings, interface texts and fixed phrases. */

type Files = ReadonlyMap<string, string>

/** Words that name nothing in this repository, with the word to use instead. */
const banned: ReadonlyMap<string, string> = new Map([
  ['look', 'evaluation'],
  ['looks', 'evaluations'],
  ['looker', 'evaluator'],
  ['looking', 'evaluating'],
  ['looked', 'evaluated'],
  ['sight', 'result'],
  ['sights', 'results'],
  ['told', 'notified'],
  ['letter', 'outgoing request'],
  ['letters', 'outgoing requests'],
  ['taker', 'raw handler'],
  ['takers', 'raw handlers'],
  ['bear', 'create'],
  ['bears', 'creates'],
  ['birth', 'creation'],
  ['births', 'creations'],
  ['door', 'entry point, server'],
  ['doors', 'entry points'],
  ['house', 'server, project'],
  ['room', 'module'],
  ['rooms', 'modules'],
  ['roof', 'top level'],
  ['question', 'query, request'],
  ['questions', 'queries'],
  ['asked', 'requested, query'],
  ['beside', 'overflow'],
  ['stray', 'overflow key'],
  ['strays', 'overflow keys'],
  ['turn', 'step'],
  ['turns', 'steps'],
  ['depot', 'file storage'],
  ['care', 'settings'],
])

/** Forms of a banned word that stand in docs/style.md by another form of it. */
const inflected: ReadonlySet<string> = new Set(['looking', 'looked'])

/** Why an identifier may contain a banned word. */
const STORED = 'the name of a stored column or member; previous versions read it'
const LETTERS = 'letters of the alphabet'
const UNSWEPT = 'not renamed yet'

/** Identifiers that contain a banned word, as `file: name`, each with the reason. The list only shrinks. */
const exceptions: ReadonlyMap<string, string> = new Map([
  ['bench/monitors.ts: looks', 'a field of the reply of a backtest'],
  ['server/src/setting-values.ts: asClickHouseUrl', 'the name of a product'],
  ['server/src/resources/queries/live-tail/delivered.ts: turn', STORED],
  ['server/src/resources/queries/live-tail/event-texts.ts: turn', STORED],
  ['server/src/resources/queries/live-tail/live-tail.ts: turn', STORED],
  ['server/src/resources/queries/live-tail/resume.test.ts: turn', STORED],
  ['server/src/resources/queries/live-tail/rows.ts: turn', STORED],
  ['server/src/reading/reading.test.ts: question', STORED],
  ['server/src/resources/queries/search/rows.ts: question', STORED],
  ['server/src/resources/watching/alert-states/alert-states.test.ts: told', STORED],
  ['server/src/resources/watching/alert-states/alert-states.ts: told', STORED],
  ['server/src/resources/watching/monitor-definitions/monitor-definitions.ts: looked_at', STORED],
  ['server/src/ingest-rules/finders.ts: LETTER', LETTERS],
  ['server/src/lines/kernel/assembly/masks.ts: HEX_LETTER', LETTERS],
  ['server/src/lines/kernel/assembly/masks.ts: LETTER', LETTERS],
  ['server/src/lines/kernel/assembly/masks.ts: letters', LETTERS],
  ['server/src/lines/kernel/assembly/pattern.ts: LETTER', LETTERS],
  ['server/src/patterns/skeleton.test.ts: letters', LETTERS],
  ['server/src/patterns/skeleton.ts: HEX_LETTER', LETTERS],
  ['server/src/patterns/skeleton.ts: LETTER', LETTERS],
  ['server/src/patterns/skeleton.ts: letters', LETTERS],
  ['server/src/patterns/skeleton.ts: onlyLetters', LETTERS],
  ['server/src/query/regex-items.ts: letters', LETTERS],
  ['server/src/lines/reference/event.ts: told', UNSWEPT],
  ['server/src/lines/kernel/kernel.ts: told', UNSWEPT],
  ['server/src/lines/shredder/prepared-record.ts: told', UNSWEPT],
  ['server/src/lines/reference/reference.test.ts: told', UNSWEPT],
])

/** Files whose names contain a banned word, each with the reason. */
const fileExceptions: ReadonlyMap<string, string> = new Map([
  ['server/src/events/store/migrations/0011-strays.sql', 'the names of applied migrations are stored'],
])

/** Phrases of an old private dialect, which readers had to decode. */
const phrases: readonly RegExp[] = [
  /\bWho (leaves|asks|may|sends)\b/,
  /\b[Tt]he looks? of\b/,
  /\b(is|are) told\b/,
  /\b[Ss]ays? once what\b/,
  /\bletters? to this machine\b/,
  /\bNobodys\b/,
  /\bof somebody else\b/,
  /\bpiled up\b/,
  /\bas they came\b/,
  /\b[Aa]gain and again\b/,
  /\bthe other way round\b/,
  /\bat it …/,
  /\bwhat is not built is not there\b/,
  /\bground floor\b/,
]

/** Phrases that comments avoid, because they have to be read twice. */
const commentPhrases: readonly RegExp[] = [
  /\bso many\b/i,
  /\banew\b/,
  /\bin vain\b/,
  /^The same(,|\.| (after|as|by|for|from|in|of|with|without)\b)/,
  /\bbehind (its|one another|(an?|the) (\w+ )?(bracket|colon|escape|field|head|header|key|message|name|number|parser|position|prefix|quote|selector|sign|text|time|value|word))\b/,
]

/** Folders whose comments and titles of tests are not checked yet. The list only shrinks. */
const unsweptFolders: readonly string[] = ['server/src/lines/', 'server/src/reading/', 'server/src/resources/access/']
const isSwept = (file: string): boolean => isSource(file) && !unsweptFolders.some((folder) => file.startsWith(folder))

/** Interface texts for which other tools have established words. */
const interfaceTexts: readonly RegExp[] = [
  /^(At it|Reading) ?…$/,
  /^Leave it$/,
  /^Take (it )?off$/,
  /^Make the (role|key|user)$/,
  /^What can be done$/,
  /^Left out(:|$)/,
  /^With the previous$/,
  /^Status without events$/,
  /^Exactly so many$/,
]

const wordsOf = (name: string): string[] =>
  name
    .replace(/look_?up/gi, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z]+/)
    .map((word) => word.toLowerCase())

const bannedIn = (name: string): string[] => wordsOf(name).filter((word) => banned.has(word))

const isSource = (file: string): boolean =>
  /^(api|language|server|cli|web|clients|test|bench)\/.*\.tsx?$/.test(file) && file !== 'test/words.test.ts'

const isPage = (file: string): boolean => file.endsWith('.md') && file !== 'docs/style.md'

const parsed = new WeakMap<Files, Map<string, ts.SourceFile>>()

function sourcesOf(files: Files): Map<string, ts.SourceFile> {
  const known = parsed.get(files)
  if (known) return known
  const sources = [...files].filter(([file]) => isSource(file))
  const trees = new Map(sources.map(([file, text]) => [file, ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)]))
  parsed.set(files, trees)
  return trees
}

const declares = (node: ts.Node): boolean =>
  ts.isFunctionDeclaration(node) ||
  ts.isClassDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isVariableDeclaration(node) ||
  ts.isBindingElement(node) ||
  ts.isParameter(node) ||
  ts.isPropertySignature(node) ||
  ts.isMethodSignature(node) ||
  ts.isPropertyDeclaration(node) ||
  ts.isMethodDeclaration(node) ||
  ts.isTypeParameterDeclaration(node)

/** The names that a file declares: functions, types, variables, parameters, members. */
function declaredNames(file: ts.SourceFile): Set<string> {
  const names = new Set<string>()
  const visit = (node: ts.Node): void => {
    const { name } = node as ts.Node & { name?: ts.Node }
    if (declares(node) && name && (ts.isIdentifier(name) || ts.isPrivateIdentifier(name))) names.add(name.text)
    ts.forEachChild(node, visit)
  }
  visit(file)
  return names
}

/** The string literals and JSX texts of a file. */
function textsOf(file: ts.SourceFile): string[] {
  const texts: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isJsxText(node)) texts.push(node.text.trim())
    ts.forEachChild(node, visit)
  }
  visit(file)
  return texts
}

/** The texts of the comments of a file, each on one line. */
function commentsOf(file: ts.SourceFile): string[] {
  const found = new Map<number, string>()
  const visit = (node: ts.Node): void => {
    for (const range of ts.getLeadingCommentRanges(file.text, node.getFullStart()) ?? []) {
      const text = file.text.slice(range.pos, range.end)
      found.set(
        range.pos,
        text
          .replaceAll(/^\/[/*]+|\*\/$|^\s*\*(?!\/)/gm, ' ')
          .replaceAll(/\s+/g, ' ')
          .trim(),
      )
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return [...found.values()]
}

/** The titles of the tests of a file. */
function testTitlesOf(file: ts.SourceFile): string[] {
  const titles: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^(describe|test|it)\b/.test(node.expression.getText(file))) {
      const [title] = node.arguments
      if (title && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title))) titles.push(title.getText(file).slice(1, -1))
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return titles
}

function exportedTypes(file: ts.SourceFile): string[] {
  return file.statements.flatMap((node) => {
    const isType = ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)
    const isExported = isType && node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    return isExported && node.name ? [node.name.text] : []
  })
}

/** Each rule returns its violations as `file: what`. */
const rules = {
  'identifiers use the glossary': (files: Files) =>
    [...sourcesOf(files)].flatMap(([file, tree]) =>
      [...declaredNames(tree)].flatMap((name) =>
        exceptions.has(`${file}: ${name}`) ? [] : bannedIn(name).map((word) => `${file}: ${name} (${word}: ${banned.get(word)})`),
      ),
    ),

  'file names use the glossary': (files: Files) =>
    [...files.keys()].filter((file) => !fileExceptions.has(file) && bannedIn(basename(file).replace(/\.[^.]+$/, '')).length > 0),

  'headings use the glossary': (files: Files) =>
    [...files]
      .filter(([file]) => isPage(file))
      .flatMap(([file, text]) => [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => ({ file, heading })))
      .filter(({ heading }) => bannedIn(heading).length > 0)
      .map(({ file, heading }) => `${file}: ${heading}`),

  'interface texts use the words of other tools': (files: Files) =>
    [...sourcesOf(files)]
      .filter(([file]) => /^(web|server|cli)\/src\//.test(file) && !file.includes('.test.'))
      .flatMap(([file, tree]) => textsOf(tree).map((text) => ({ file, text })))
      .filter(({ text }) => interfaceTexts.some((pattern) => pattern.test(text)))
      .map(({ file, text }) => `${file}: ${text}`),

  'code and docs contain no phrase of the old dialect': (files: Files) =>
    [...files]
      .filter(([file]) => isSource(file) || isPage(file))
      .flatMap(([file, text]) => text.split('\n').map((line, at) => ({ place: `${file}:${at + 1}`, line })))
      .filter(({ line }) => phrases.some((phrase) => phrase.test(line)))
      .map(({ place, line }) => `${place}: ${line.trim().slice(0, 120)}`),

  'comments contain no phrase that is read twice': (files: Files) =>
    [...sourcesOf(files)]
      .filter(([file]) => isSwept(file))
      .flatMap(([file, tree]) => commentsOf(tree).map((comment) => ({ file, comment })))
      .filter(({ comment }) => commentPhrases.some((phrase) => phrase.test(comment)))
      .map(({ file, comment }) => `${file}: ${comment.slice(0, 120)}`),

  'titles of tests begin with their subject': (files: Files) =>
    [...sourcesOf(files)]
      .filter(([file]) => isSwept(file) && file.includes('.test.'))
      .flatMap(([file, tree]) => testTitlesOf(tree).map((title) => ({ file, title })))
      .filter(({ title }) => /^(what|who)\b/i.test(title))
      .map(({ file, title }) => `${file}: ${title}`),

  'no two exported types share a name': (files: Files) => {
    const declared = new Map<string, string[]>()
    for (const [file, tree] of sourcesOf(files)) {
      if (/^(test|bench)\//.test(file) || file.includes('.test.')) continue
      for (const name of exportedTypes(tree)) declared.set(name, [...(declared.get(name) ?? []), file])
    }
    return [...declared].filter(([, places]) => places.length > 1).map(([name, places]) => `${places.join(', ')}: ${name}`)
  },
} satisfies Record<string, (files: Files) => string[]>

const root = resolve(import.meta.dirname, '..')
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
const deleted = new Set(execFileSync('git', ['ls-files', '--deleted'], { cwd: root, encoding: 'utf8' }).trim().split('\n'))
const read = (file: string): string => (isSource(file) || file.endsWith('.md') ? readFileSync(join(root, file), 'utf8') : '')
const repository: Files = new Map(
  listed
    .trim()
    .split('\n')
    .filter((file) => !deleted.has(file))
    .map((file) => [file, read(file)]),
)

test('the checked tree has sources, pages and types', () => {
  expect(sourcesOf(repository).size).toBeGreaterThan(1_000)
  expect([...repository.keys()].filter(isPage).length).toBeGreaterThan(10)
  expect([...sourcesOf(repository).values()].flatMap(exportedTypes).length).toBeGreaterThan(300)
})

describe('the repository', () => {
  test.each(Object.entries(rules))('%s', (_, rule) => {
    expect(rule(repository)).toEqual([])
  })

  test('lists every banned word in docs/style.md', () => {
    const style = readFileSync(join(root, 'docs/style.md'), 'utf8')
    expect([...banned.keys()].filter((word) => !inflected.has(word) && !style.includes(word.replace(/s$/, '')))).toEqual([])
  })

  test('still needs every exception', () => {
    const names = new Set([...sourcesOf(repository)].flatMap(([file, tree]) => [...declaredNames(tree)].map((name) => `${file}: ${name}`)))
    expect([...exceptions.keys()].filter((name) => !names.has(name))).toEqual([])
    expect(unsweptFolders.filter((folder) => ![...repository.keys()].some((file) => file.startsWith(folder)))).toEqual([])
    expect([...fileExceptions.keys()].filter((file) => !repository.has(file))).toEqual([])
  })
})

/** For each rule, files that violate it, and the violations that it must report. */
const planted: Record<keyof typeof rules, { files: Record<string, string>; found: readonly string[] }> = {
  'identifiers use the glossary': {
    files: {
      'cli/src/planted.ts': 'export type Asked = { lookOf: string }\nfunction findTaker(letter: string, lookUp: string, { care: x }) {}',
    },
    found: ['Asked (asked', 'lookOf (look', 'findTaker (taker', 'letter (letter'],
  },
  'file names use the glossary': { files: { 'server/src/door.ts': '', 'docs/the-house.md': '' }, found: ['door.ts', 'the-house.md'] },
  'headings use the glossary': { files: { 'docs/planted.md': '# The roof\n\n## Queries\n' }, found: ['The roof'] },
  'interface texts use the words of other tools': {
    files: {
      'web/src/planted.tsx': 'const label = \'Take off\'\nconst view = <button>Leave it</button>\nconst list = <Panel title="Left out" />',
      'server/src/planted.ts': "const verdict = 'Exactly so many'",
    },
    found: ['Take off', 'Leave it', 'Left out', 'Exactly so many'],
  },
  'code and docs contain no phrase of the old dialect': {
    files: { 'api/src/planted.ts': '// Who leaves stops the query.', 'docs/planted.md': 'The owner is told.' },
    found: ['api/src/planted.ts:1', 'docs/planted.md:1'],
  },
  'comments contain no phrase that is read twice': {
    files: {
      'api/src/planted.ts':
        '/** The same for bytes. */\nconst a = 1\n// Waits for a place behind the header.\nconst b = 2 // Read anew.\nconst c = 3',
      'cli/src/planted.ts':
        '/**\n * At most so\n * many of them.\n */\nconst url = "http://x/ in vain"\n// Behind a proxy. Not the same.\nconst c = 3',
    },
    found: ['The same for bytes', 'behind the header', 'so many'],
  },
  'titles of tests begin with their subject': {
    files: {
      'api/src/planted.test.ts': "test('what is left', () => {})\ndescribe.each([1])('who %s', () => {})\ntest('whatever', () => {})",
    },
    found: ['what is left', 'who %s'],
  },
  'no two exported types share a name': {
    files: { 'api/src/a.ts': 'export type Twin = 1', 'cli/src/b.ts': 'export class Twin {}', 'web/src/c.ts': 'type Twin = 2' },
    found: ['api/src/a.ts, cli/src/b.ts: Twin'],
  },
}

test.each(Object.entries(planted))('a planted violation is found: %s', (name, { files, found }) => {
  const violations = rules[name as keyof typeof rules](new Map(Object.entries(files)))
  expect(violations).toHaveLength(found.length)
  for (const [index, part] of found.entries()) expect(violations[index]).toContain(part)
})
