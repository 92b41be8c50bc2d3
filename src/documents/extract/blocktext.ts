import type { Extraction } from './job.js';

/** Collects the text of paragraphs and tables: a line of each paragraph, and one of each row. */
export interface BlockText {
  /** Adds text to the paragraph. */
  add(text: string): void;
  /** Ends the paragraph, which is a heading if it has a level from 1. */
  endParagraph(level?: number | null): void;
  /** Begins a block, whose paragraphs are not those around it. */
  begin(kind: BlockKind): void;
  /** Ends the block that was begun last. */
  end(): void;
  /** Leaves a line empty. */
  gap(): void;
  /** True once there is more text than there may be, or as many lines and cells. */
  isFull(): boolean;
  /** Ends all blocks, and returns the text. Tells if the rest is left out that `isFull` ended. */
  text(): string;
}

/** A row of a table, a cell of it, or a box with text that is anchored in a paragraph. */
export type BlockKind = 'row' | 'cell' | 'box';

interface Block {
  kind: BlockKind | 'body';
  /** The lines of its paragraphs; the cells of a row. */
  lines: string[];
  /** The text of the open paragraph. */
  paragraph: string;
  /** The lines of the boxes in that paragraph, which come below it. */
  boxes: string[];
}

const blockOf = (kind: Block['kind']): Block => ({ kind, lines: [], paragraph: '', boxes: [] });

const ENDLESS = 'A page has too many empty lines and cells. Its end was not read.';

/** Ours: the most of a text without pages of its own, in times of what a page may have. */
const FLOW_PAGES = 10;

/** The deepest heading of Markdown. */
const MAX_HEADING_DEPTH = 6;

/** Creates the text of a file without pages of its own, which may be as long as several. */
export const createFlowText = (extraction: Extraction): BlockText =>
  createBlockText(extraction, FLOW_PAGES);

/** Creates the text of a page. */
export const createBlockText = ({ job, note }: Extraction, pages = 1): BlockText => {
  const mostChars = pages * job.limits.pageChars;
  const body = blockOf('body');
  /** The open blocks, the outermost first. */
  const outer: Block[] = [];
  let block = body;
  let chars = 0;
  let lines = 0;

  const linesOf = (text: string, level: number | null): string[] => {
    if (level === null || [...outer, block].some(({ kind }) => kind === 'cell')) return [text];
    const title = flat(text);
    if (title === '') return [text];
    return ['', `${'#'.repeat(Math.min(level, MAX_HEADING_DEPTH))} ${title}`, ''];
  };
  const endParagraph = (level: number | null = null): void => {
    const { paragraph, boxes } = block;
    for (const line of linesOf(paragraph, level)) block.lines.push(line);
    for (const line of boxes) block.lines.push(line);
    lines++;
    block.paragraph = '';
    block.boxes = [];
  };
  const endOpen = (): void => {
    if (block.paragraph !== '' || block.boxes.length > 0) endParagraph();
  };
  const end = (): void => {
    endOpen();
    const ended = block;
    block = outer.pop() ?? body;
    if (ended.kind === 'cell') block.lines.push(flat(ended.lines.join('\n')));
    else if (ended.kind === 'box') for (const line of ended.lines) block.boxes.push(line);
    else if (ended.lines.some(Boolean)) block.lines.push(ended.lines.join('\t'));
    lines++;
  };

  const isFull = (): boolean => chars > mostChars || lines > mostChars;

  return {
    add: (text) => {
      block.paragraph += text;
      chars += text.length;
    },
    endParagraph,
    begin: (kind) => {
      outer.push(block);
      block = blockOf(kind);
    },
    end,
    gap: () => void block.lines.push(''),
    isFull,
    text: () => {
      while (outer.length > 0) end();
      endOpen();
      const text = body.lines.join('\n');
      if (isFull() && text.length <= mostChars) note(ENDLESS);
      // A page that is longer is told of where it is cut.
      if (pages === 1 || text.length <= mostChars) return text;
      note(`Only the first ${mostChars} characters were read.`);
      return text.slice(0, mostChars);
    },
  };
};

/** Returns a text of several lines as one, without tabs. */
const flat = (text: string): string => text.replace(/[\r\n\t]+/g, ' ').trim();
