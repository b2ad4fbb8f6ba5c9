import { history, historyKeymap, standardKeymap } from '@codemirror/commands'
import { Annotation, Compartment, EditorState, Prec, type Range, StateEffect, StateField } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, keymap, placeholder, WidgetType } from '@codemirror/view'
import { parseText, type TraceableParser } from '@dendro/language/completions'
import type { SyntaxKind } from '@dendro/language/parse-trace'
import { styleNonce } from '../shell/style-nonce.ts'

/** A Mark is a range with an error; an empty one is a place where something is missing. */
export type Mark = { readonly position: number; readonly length: number; readonly title: string }

const keys = ['Enter', 'Alt-Enter', 'Tab', 'Escape', 'ArrowDown', 'ArrowUp', 'Ctrl-Space'] as const
export type EditorKey = (typeof keys)[number]

/** The initial state and the callbacks; onKey returns true when it handled the key. */
export type EditorOptions = {
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

/** An Editor is a growing, highlighted line of text. */
export type Editor = {
  focus(): void
  text(): string
  cursor(): number
  setText(text: string, cursor: number): void
  setMark(mark: Mark | undefined): void
  /** Shows a note after each quoted text that has one. */
  setNotes(notes: ReadonlyMap<string, string>): void
  setAttributes(attributes: Record<string, string>): void
  close(): void
}

const pieceStyles: Record<SyntaxKind, string> = {
  key: 'text-accent',
  operator: 'text-soft',
  value: 'text-ink',
  word: 'font-semibold text-info',
  text: 'underline decoration-dotted decoration-soft underline-offset-4',
  function: 'font-semibold text-accent',
}
const WRONG = 'bg-transparent text-error underline decoration-2 decoration-wavy underline-offset-2'

/** Marks a place where something is missing. */
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

/** Explains the text before it, and is no part of the query. */
class Note extends WidgetType {
  readonly #text: string

  constructor(text: string) {
    super()
    this.#text = text
  }

  override eq(other: WidgetType): boolean {
    return other instanceof Note && other.#text === this.#text
  }

  override toDOM(): HTMLElement {
    const note = document.createElement('span')
    note.className = 'ml-1 rounded bg-tint px-1 font-sans text-soft'
    note.textContent = this.#text
    return note
  }
}

const noting = StateEffect.define<ReadonlyMap<string, string>>()
const notes = StateField.define<{ of: ReadonlyMap<string, string>; shown: DecorationSet }>({
  create: () => ({ of: new Map(), shown: Decoration.none }),
  update: (before, { effects, docChanged, newDoc }) => {
    const of = effects.findLast((effect) => effect.is(noting))?.value ?? before.of
    return of === before.of && !docChanged ? before : { of, shown: notesIn(newDoc.toString(), of) }
  },
  provide: (field) => EditorView.decorations.from(field, ({ shown }) => shown),
})

function notesIn(text: string, of: ReadonlyMap<string, string>): DecorationSet {
  const ranges = [...of].flatMap(([quoted, note]) => {
    const widget = Decoration.widget({ widget: new Note(note), side: 1 })
    return [...text.matchAll(new RegExp(`'${quoted}'`, 'g'))].map(({ index }) => widget.range(index + quoted.length + 2))
  })
  return Decoration.set(ranges, true)
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

/** highlighting styles the parts of the text as parsed. */
const highlighting = (read: TraceableParser) => {
  const decorationOf = new Map(Object.entries(pieceStyles).map(([kind, style]) => [kind, Decoration.mark({ class: style })]))
  const drawn = (text: string): DecorationSet => {
    const ranges: Range<Decoration>[] = []
    for (const { kind, position, length } of parseText(read, text).pieces) {
      const style = decorationOf.get(kind)
      if (style && length > 0) ranges.push(style.range(position, position + length))
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

/**
 * Typing over a selection replaces it by a transaction. Left to the browser, the new text gets the colors of the old one as a style attribute, which
 * the Content Security Policy blocks.
 */
const replaceWithoutStyles = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (event.inputType !== 'insertText' || event.data === null || view.composing) return false
    // The editor learns of a new selection later than the browser, which types over it at once.
    const [range = getSelection()?.getRangeAt(0)] = event.getTargetRanges()
    if (!range || range.collapsed) return false
    const from = view.posAtDOM(range.startContainer, range.startOffset)
    const to = view.posAtDOM(range.endContainer, range.endOffset)
    const selection = { anchor: from + event.data.length }
    view.dispatch({ changes: { from, to, insert: event.data }, selection, userEvent: 'input.type', scrollIntoView: true })
    event.preventDefault()
    return true
  },
})

/** openEditor mounts an editor; the caller closes it. */
export function openEditor(parent: HTMLElement, options: EditorOptions): Editor {
  const attributes = new Compartment()
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: options.text,
      selection: { anchor: Math.min(options.from, options.text.length), head: Math.min(options.to, options.text.length) },
      extensions: [
        Prec.highest(keymap.of(keys.map((key) => ({ key, run: ({ state }) => options.onKey(key, state.selection.main.head) })))),
        history(),
        keymap.of([...historyKeymap, ...standardKeymap]),
        EditorView.cspNonce.of(styleNonce),
        EditorView.lineWrapping,
        replaceWithoutStyles,
        placeholder(options.placeholder),
        attributes.of(EditorView.contentAttributes.of(options.attributes)),
        theme,
        highlighting(options.read),
        marks,
        notes,
        EditorView.updateListener.of(({ docChanged, state, transactions }) => {
          if (docChanged && !transactions.some((one) => one.annotation(fromOutside)))
            options.onText(state.doc.toString(), state.selection.main.head)
        }),
        EditorView.domEventHandlers({
          focus: () => options.onFocus(true),
          blur: () => options.onFocus(false),
          click: (_, { state }) => options.onClick(state.selection.main.head),
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
    setNotes: (next) => view.dispatch({ effects: noting.of(next) }),
    setAttributes: (next) => view.dispatch({ effects: attributes.reconfigure(EditorView.contentAttributes.of(next)) }),
    close: () => view.destroy(),
  }
}
