import type { Extraction } from './job.js';

export interface BlockText {
  add(text: string): void;
  /** A level from 1 makes the paragraph a heading. */
  endParagraph(level?: number | null): void;
  begin(kind: BlockKind): void;
  end(): void;
  gap(): void;
  /** True if the limit of characters, lines or cells is reached. */
  isFull(): boolean;
  /** Ends all blocks. Adds a note if text was cut. */
  text(): string;
}

export type BlockKind = 'row' | 'cell' | 'box';

interface Block {
  kind: BlockKind | 'body';
  lines: string[];
  paragraph: string;
  /** Text boxes anchored in the paragraph. They follow it. */
  boxes: string[];
}

const createBlock = (kind: Block['kind']): Block => ({ kind, lines: [], paragraph: '', boxes: [] });

const TOO_MANY_BLOCKS = 'A page has too many empty lines and cells. Its end was not read.';

/** Maximum length of a text without pages, as a multiple of the length of a page. */
const FLOW_PAGES = 10;

const MAX_HEADING_DEPTH = 6;

/** A text without pages may be longer than a page. */
export const createFlowText = (extraction: Extraction): BlockText =>
  createBlockText(extraction, FLOW_PAGES);

export const createBlockText = ({ job, note }: Extraction, pages = 1): BlockText => {
  const mostChars = pages * job.limits.pageChars;
  const body = createBlock('body');
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
      block = createBlock(kind);
    },
    end,
    gap: () => void block.lines.push(''),
    isFull,
    text: () => {
      while (outer.length > 0) end();
      endOpen();
      const text = body.lines.join('\n');
      if (isFull() && text.length <= mostChars) note(TOO_MANY_BLOCKS);
      // A longer page is reported where it is cut.
      if (pages === 1 || text.length <= mostChars) return text;
      note(`Only the first ${mostChars} characters were read.`);
      return text.slice(0, mostChars);
    },
  };
};

const flat = (text: string): string => text.replace(/[\r\n\t]+/g, ' ').trim();
