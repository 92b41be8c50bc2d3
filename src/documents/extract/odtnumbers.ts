import { formatListNumber } from './numberforms.js';
import { findAttribute, type XmlAttributes } from './xmlwalk.js';

interface OdtLevel {
  format: string;
  prefix: string;
  suffix: string;
  start: number;
  /** Number of levels shown: 2 for `3.1`. */
  shown: number;
}

type OdtLevels = ReadonlyMap<number, OdtLevel>;

interface OpenOdtList {
  style: string;
  counts: Map<number, number>;
  depth: number;
  /** The item that has begun and has no paragraph yet. */
  item: { start: string | undefined } | null;
}

export interface OdtNumbers {
  takeStyle(name: string, attributes: XmlAttributes): void;
  open(name: string, attributes: XmlAttributes): void;
  close(name: string): void;
  /** Returns the number of the paragraph or heading that begins, such as `2.1`, or an empty string. */
  next(outlineLevel: number | null): string;
}

const LEVELS = new Set(['list-level-style-number', 'outline-level-style']);
/** Key of the style of headings, which has no name. */
const OUTLINE = '';
/** Blocks within a list item that begin lists of their own. */
const APART = new Set(['text-box', 'note-body']);

const createOpenOdtList = (): OpenOdtList => ({
  ...{ style: OUTLINE, counts: new Map(), depth: 0, item: null },
});

/** Numbers of lists and headings (ODF 1.3, part 3, 5.3 and 16.31 to 16.34). */
export const createOdtNumbers = (): OdtNumbers => {
  const styles = new Map<string, Map<number, OdtLevel>>();
  const latest = new Map<string, Map<number, number>>();
  const headings = createOpenOdtList().counts;
  const outer: OpenOdtList[] = [];
  let list = createOpenOdtList();
  let levels = new Map<number, OdtLevel>();

  const begin = (next: OpenOdtList): void => {
    outer.push(list);
    list = next;
  };
  const openList = (attributes: XmlAttributes): OpenOdtList => {
    const style = findAttribute(attributes, 'style-name') ?? list.style;
    const continues =
      findAttribute(attributes, 'continue-numbering') === 'true' ||
      findAttribute(attributes, 'continue-list') !== undefined;
    const counts = list.depth > 0 ? list.counts : continues ? latest.get(style) : undefined;
    const opened = {
      ...createOpenOdtList(),
      style,
      depth: list.depth + 1,
      ...(counts && { counts }),
    };
    latest.set(style, opened.counts);
    return opened;
  };

  return {
    takeStyle: (name, attributes) => {
      if (name === 'list-style' || name === 'outline-style') {
        levels = new Map();
        const isOutline = name === 'outline-style';
        styles.set(isOutline ? OUTLINE : (findAttribute(attributes, 'name') ?? OUTLINE), levels);
      } else if (LEVELS.has(name)) {
        levels.set(Number(findAttribute(attributes, 'level')), parseOdtLevel(attributes));
      }
    },
    open: (name, attributes) => {
      if (name === 'list') begin(openList(attributes));
      else if (APART.has(name)) begin(createOpenOdtList());
      else if (name === 'list-item')
        list.item = { start: findAttribute(attributes, 'start-value') };
    },
    close: (name) => {
      if (name === 'list' || APART.has(name)) list = outer.pop() ?? createOpenOdtList();
      else if (name === 'list-item') list.item = null;
    },
    next: (outlineLevel) => {
      const { style, counts, depth, item } = list;
      list.item = null;
      if (item) return numberOf(styles.get(style), { counts, depth, start: item.start });
      if (depth > 0 || outlineLevel === null) return '';
      return numberOf(styles.get(OUTLINE), { counts: headings, depth: outlineLevel });
    },
  };
};

interface NumberPlace {
  counts: Map<number, number>;
  depth: number;
  /** Replaces the next number. */
  start?: string | undefined;
}

const numberOf = (levels: OdtLevels = new Map(), { counts, depth, start }: NumberPlace): string => {
  const level = levels.get(depth);
  const before = counts.get(depth) ?? (level?.start ?? 1) - 1;
  counts.set(depth, start === undefined ? before + 1 : Number(start) || 0);
  for (const deeper of counts.keys()) if (deeper > depth) counts.delete(deeper);
  if (!level || level.format === '') return '';
  const numbers: string[] = [];
  for (let at = Math.max(1, depth - level.shown + 1); at <= depth; at++) {
    const { format = '', start: first = 1 } = levels.get(at) ?? {};
    if (format !== '') numbers.push(formatListNumber(format, counts.get(at) ?? first));
  }
  return `${level.prefix}${numbers.join('.')}${level.suffix}`;
};

const parseOdtLevel = (attributes: XmlAttributes): OdtLevel => ({
  format: findAttribute(attributes, 'num-format') ?? '',
  prefix: findAttribute(attributes, 'num-prefix') ?? '',
  suffix: findAttribute(attributes, 'num-suffix') ?? '',
  start: Number(findAttribute(attributes, 'start-value') ?? '1') || 1,
  shown: Number(findAttribute(attributes, 'display-levels') ?? '1') || 1,
});
