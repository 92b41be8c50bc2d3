import { inlineRuns } from './inline.js';
import {
  createTextLine,
  type ItemMarker,
  MAX_LEVEL,
  type TextLine,
  type TextRun,
  textOfRuns,
} from './lines.js';
import { type MarkdownToken, markdownParser } from './parse.js';
import { type TableCell, tableText } from './table.js';

/** `next` is null for bullets. */
interface OpenList {
  next: number | null;
}

interface Layout {
  source: string[];
  lines: TextLine[];
  quote: number;
  lists: OpenList[];
  /** Marker of an item without a line yet. */
  pending: ItemMarker | null;
  /** 0 outside of a heading. */
  heading: number;
  block: number;
  /** null outside of a table. */
  table: TableCell[][] | null;
}

export const markdownLines = (text: string): TextLine[] => {
  const layout: Layout = {
    source: text.split('\n'),
    lines: [],
    quote: 0,
    lists: [],
    pending: null,
    heading: 0,
    block: 0,
    table: null,
  };
  for (const token of markdownParser().parse(text, {})) {
    if (token.nesting >= 0 && token.map) addGap(layout, token.map[0]);
    HANDLERS[token.type]?.(layout, token);
  }
  return layout.lines;
};

type TokenHandler = (layout: Layout, token: MarkdownToken) => void;

const HANDLERS: Record<string, TokenHandler> = {
  blockquote_open: (layout) => void layout.quote++,
  blockquote_close: (layout) => void layout.quote--,
  bullet_list_open: ({ lists }) => void lists.push({ next: null }),
  bullet_list_close: ({ lists }) => void lists.pop(),
  ordered_list_open: ({ lists }, token) =>
    void lists.push({ next: Number(token.attrGet('start') ?? 1) }),
  ordered_list_close: ({ lists }) => void lists.pop(),
  list_item_open: (layout) => {
    endItem(layout);
    const list = layout.lists.at(-1);
    layout.pending = { number: list?.next ?? null, isDone: null };
    if (list && list.next !== null) list.next++;
  },
  list_item_close: (layout) => endItem(layout),
  heading_open: (layout, { tag }) => {
    layout.heading = Number(tag.slice(1));
  },
  heading_close: (layout) => {
    layout.heading = 0;
  },
  inline: (layout, { children }) => {
    if (layout.table) layout.table.at(-1)?.push(createTableCell(children ?? [], layout));
    else addInline(layout, inlineRuns(children ?? []));
  },
  fence: (layout, { content, info }) => addCode(layout, content, /^[\w+#.-]{1,30}/.exec(info)?.[0]),
  code_block: (layout, { content }) => addCode(layout, content),
  hr: (layout) => add(layout, [{ text: '———' }]),
  table_open: (layout) => {
    layout.table = [];
  },
  tr_open: ({ table }) => void table?.push([]),
  th_open: (layout, token) => noteSide(layout, token),
  td_open: (layout, token) => noteSide(layout, token),
  table_close: (layout) => {
    const rows = layout.table ?? [];
    layout.table = null;
    addCode(layout, tableText(rows).join('\n'));
  },
};

const addGap = (layout: Layout, at: number): void => {
  const last = layout.lines.at(-1);
  if (layout.table || !last || last.runs.length === 0) return;
  if (/^[\s>]*$/.test(layout.source[at - 1] ?? '-')) layout.lines.push(createTextLine([]));
};

const add = (layout: Layout, runs: TextRun[], input: Partial<TextLine> = {}): void => {
  const { quote, lists, pending: marker } = layout;
  layout.pending = null;
  const depth = Math.min(MAX_LEVEL, lists.length);
  layout.lines.push(
    createTextLine(runs, { quote: Math.min(MAX_LEVEL, quote), depth, marker, ...input }),
  );
};

const endItem = (layout: Layout): void => {
  if (layout.pending) add(layout, []);
};

const TASK = /^\[([ xX])\](?:\s+|$)/;

const addInline = (layout: Layout, lines: TextRun[][]): void => {
  const { heading: level } = layout;
  for (const runs of lines) {
    const marker = layout.pending;
    const [first, ...others] = runs;
    const task = marker && first && TASK.exec(first.text);
    if (marker && task) layout.pending = { ...marker, isDone: task[1] !== ' ' };
    const shown = task ? [{ ...first, text: first.text.slice(task[0].length) }, ...others] : runs;
    add(layout, shown, level > 0 ? { kind: 'heading', level } : {});
  }
};

const addCode = (layout: Layout, content: string, language = ''): void => {
  const block = ++layout.block;
  // An item that begins with code has its marker on its own line.
  if (layout.pending) add(layout, []);
  for (const [at, text] of content.replace(/\n$/, '').split('\n').entries()) {
    add(layout, [{ text }], { kind: 'code', block, isBlockStart: at === 0, language });
  }
};

/** An empty cell stores the alignment until the text is known. */
const noteSide = ({ table }: Layout, token: MarkdownToken): void => {
  const [, side] = /text-align:(right|center)/.exec(String(token.attrGet('style') ?? '')) ?? [];
  table?.at(-1)?.push({ text: '', side: side === 'right' || side === 'center' ? side : 'left' });
};

const createTableCell = (children: MarkdownToken[], { table }: Layout): TableCell => {
  const side = table?.at(-1)?.pop()?.side ?? 'left';
  return { text: inlineRuns(children).map(textOfRuns).join(' '), side };
};
