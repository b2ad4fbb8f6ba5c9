import { dirname, join } from 'node:path'
import ts from 'typescript'

/** The text of a `sql` template between its values, with the place where it stands. */
export type StatementTemplate = { readonly place: string; readonly pieces: readonly string[] }

/** A statement as PostgreSQL got it. */
export type RecordedStatement = { text: string; values: unknown[] }

/** The `sql` templates of a file that imports the tag of the metadata store, those inside others too. */
export function templatesIn(path: string, source: string): StatementTemplate[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true)
  const hasTag = file.statements.some(
    (statement) =>
      ts.isImportDeclaration(statement) &&
      ts.isStringLiteral(statement.moduleSpecifier) &&
      join(dirname(path), statement.moduleSpecifier.text).endsWith('meta/sql.ts'),
  )
  const found: StatementTemplate[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isTaggedTemplateExpression(node) && node.tag.getText(file) === 'sql') {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart(file))
      found.push({ place: `${path}:${line + 1}`, pieces: piecesOf(node.template) })
    }
    ts.forEachChild(node, visit)
  }
  if (hasTag) visit(file)
  return found
}

const piecesOf = (template: ts.TemplateLiteral): string[] =>
  ts.isNoSubstitutionTemplateLiteral(template)
    ? [template.text]
    : [template.head.text, ...template.templateSpans.map(({ literal }) => literal.text)]

/** Whether a template makes whole statements and not only parts of them. */
const isStatement = ({ pieces }: StatementTemplate): boolean =>
  /^\s*(select|insert|update|delete|with|lock|truncate)\b/i.test(pieces[0] ?? '')

function patternOf(template: StatementTemplate): RegExp {
  const inside = template.pieces.map((piece) => piece.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('[\\s\\S]*?')
  return new RegExp(isStatement(template) ? `(^|\\()${inside}($|\\))` : inside)
}

/** The templates that no recorded statement was made from. */
export function neverRun(templates: readonly StatementTemplate[], recorded: readonly RecordedStatement[]): StatementTemplate[] {
  return templates.filter((template) => {
    const pattern = patternOf(template)
    return !recorded.some(({ text }) => pattern.test(text))
  })
}

/** The recorded statements that were made from one of the templates as a whole. */
export function madeFrom(templates: readonly StatementTemplate[], recorded: readonly RecordedStatement[]): RecordedStatement[] {
  const patterns = templates.filter(isStatement).map((template) => new RegExp(`^(?:${patternOf(template).source})$`))
  return recorded.filter(({ text }) => patterns.some((pattern) => pattern.test(text)))
}
