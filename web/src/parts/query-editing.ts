import { history, historyKeymap, standardKeymap } from '@codemirror/commands'
import { Annotation, Compartment, EditorState, Prec, type Range, StateEffect, StateField } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, keymap, placeholder, WidgetType } from '@codemirror/view'
import type { SyntaxKind } from '@dendro/language/parse-trace'
import { type TraceableParser, parseText } from '@dendro/language/completions'
import { styleNonce } from './style-nonce.ts'

/** A Mark is a stretch of the text that something is wrong with, as `title` says; an empty one is a place where something is missing. */
export type Mark = { readonly position: number; readonly length: number; readonly title: string }

const keys = ['Enter', 'Alt-Enter', 'Tab', 'Escape', 'ArrowDown', 'ArrowUp', 'Ctrl-Space'] as const
export type EditorKey = (typeof keys)[number]

/** An EditorWish is what an editor begins with, and who hears of what happens in it; a key that is taken does nothing else. */
export type EditorWish = {
  text: string
  from: number
  to: number
  placeholder: string
  attributes: Record<string, string>
  read: TraceableParser
  onText(text: string, cursor: number): void
  onClick(cursor: number): void
  onKey(key: EditorKey, cursor: number): boolean
  onFocus(isFocused: boolean): void
}

/** An Editor is a line of text, which grows to several, and shows what its parts are. */
export type Editor = {
  focus(): void
  text(): string
  cursor(): number
  setText(text: string, cursor: number): void
  setMark(mark: Mark | undefined): void
  setAttributes(attributes: Record<string, string>): void
  close(): void
}

const looks: Record<SyntaxKind, string> = {
  key: 'text-accent',
  operator: 'text-soft',
  value: 'text-ink',
  word: 'font-semibold text-info',
  text: 'underline decoration-dotted decoration-soft underline-offset-4',
  function: 'font-semibold text-accent',
}
const WRONG = 'bg-transparent text-error underline decoration-2 decoration-wavy underline-offset-2'

/** Missing stands where a text lacks something. */
class Missing extends WidgetType {
  readonly #title: string

  constructor(title: string) {
    super()
    this.#title = title
  }

  override toDOM(): HTMLElement {
    const mark = document.createElement('mark')
    mark.className = `${WRONG} whitespace-pre`
    mark.title = this.#title
    mark.textContent = ' '
    return mark
  }
}

const theme = EditorView.theme({
  '&': { backgroundColor: 'transparent' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '20px', maxHeight: '162px', overflow: 'auto' },
  '.cm-content': { padding: '5px 0', caretColor: 'var(--color-ink)' },
  '.cm-line': { padding: '0 8px' },
  '.cm-placeholder': { color: 'var(--color-soft)', fontFamily: 'var(--font-sans)' },
})

const marking = StateEffect.define<Mark | undefined>()
const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (before, { effects, changes, state }) => {
    for (const effect of effects) if (effect.is(marking)) return markAt(effect.value, state.doc.length)
    return before.map(changes)
  },
  provide: (field) => EditorView.decorations.from(field),
})

function markAt(mark: Mark | undefined, end: number): DecorationSet {
  if (!mark) return Decoration.none
  const from = Math.min(mark.position, end)
  const to = Math.min(from + mark.length, end)
  if (to === from) return Decoration.set([Decoration.widget({ widget: new Missing(mark.title), side: 1 }).range(from)])
  return Decoration.set([Decoration.mark({ tagName: 'mark', class: WRONG, attributes: { title: mark.title } }).range(from, to)])
}

/** colours show what the parser takes the parts of the text for, as far as it comes. */
const colours = (read: TraceableParser) => {
  const looksOf = new Map(Object.entries(looks).map(([kind, look]) => [kind, Decoration.mark({ class: look })]))
  const drawn = (text: string): DecorationSet => {
    const ranges: Range<Decoration>[] = []
    for (const { kind, position, length } of parseText(read, text).pieces) {
      const look = looksOf.get(kind)
      if (look && length > 0) ranges.push(look.range(position, position + length))
    }
    return Decoration.set(ranges, true)
  }
  return StateField.define<DecorationSet>({
    create: ({ doc }) => drawn(doc.toString()),
    update: (before, { docChanged, newDoc }) => (docChanged ? drawn(newDoc.toString()) : before),
    provide: (field) => EditorView.decorations.from(field),
  })
}

const fromOutside = Annotation.define<boolean>()

/** openEditor puts an editor into an element; whoever opens it closes it. */
export function openEditor(parent: HTMLElement, wish: EditorWish): Editor {
  const attributes = new Compartment()
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: wish.text,
      selection: { anchor: Math.min(wish.from, wish.text.length), head: Math.min(wish.to, wish.text.length) },
      extensions: [
        Prec.highest(keymap.of(keys.map((key) => ({ key, run: ({ state }) => wish.onKey(key, state.selection.main.head) })))),
        history(),
        keymap.of([...historyKeymap, ...standardKeymap]),
        EditorView.cspNonce.of(styleNonce),
        EditorView.lineWrapping,
        placeholder(wish.placeholder),
        attributes.of(EditorView.contentAttributes.of(wish.attributes)),
        theme,
        colours(wish.read),
        marks,
        EditorView.updateListener.of(({ docChanged, state, transactions }) => {
          if (docChanged && !transactions.some((one) => one.annotation(fromOutside)))
            wish.onText(state.doc.toString(), state.selection.main.head)
        }),
        EditorView.domEventHandlers({
          focus: () => wish.onFocus(true),
          blur: () => wish.onFocus(false),
          click: (_, { state }) => wish.onClick(state.selection.main.head),
        }),
      ],
    }),
  })
  return {
    focus: () => view.focus(),
    text: () => view.state.doc.toString(),
    cursor: () => view.state.selection.main.head,
    setText: (insert, anchor) =>
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert },
        selection: { anchor: Math.min(anchor, insert.length) },
        annotations: fromOutside.of(true),
        scrollIntoView: true,
      }),
    setMark: (mark) => view.dispatch({ effects: marking.of(mark) }),
    setAttributes: (next) => view.dispatch({ effects: attributes.reconfigure(EditorView.contentAttributes.of(next)) }),
    close: () => view.destroy(),
  }
}
