import type { ArchiveFiles } from './archive.js';
import { formatListNumber } from './numberforms.js';
import { walkFile } from './openpackage.js';
import { findAttribute, type XmlAttributes } from './xmlwalk.js';

/** ECMA-376-1, 17.9.6. */
interface ListLevel {
  start: number;
  format: string;
  /** `%1` stands for the number of the first level: `%1.%2`. */
  text: string;
  /** Whether all levels are shown as decimal numbers. */
  isLegal: boolean;
  /** False if counting continues after a higher level. */
  restarts: boolean;
  style: string | null;
}

/** Several lists may share a counter. */
interface ListOf {
  abstract: string;
  levels: Map<number, ListLevel>;
  starts: Map<number, number>;
}

export interface ListNumbers {
  /** Returns the number as displayed, such as `2.1`, or an empty string. */
  next(list: string, level: number | null, style: string | null): string;
}

export const NO_NUMBERS: ListNumbers = { next: () => '' };

export const readNumbers = async (files: ArchiveFiles, path: string): Promise<ListNumbers> =>
  createNumbers(await readNumberingLists(files, path));

const createNumbers = (lists: ReadonlyMap<string, ListOf>): ListNumbers => {
  const counts = new Map<string, Map<number, number>>();
  const started = new Set<ListOf>();
  return {
    next: (id, explicitLevel, style) => {
      const list = lists.get(id);
      if (!list) return '';
      const at = explicitLevel ?? levelOfStyle(list, style);
      const level = list.levels.get(at);
      if (!level) return '';
      const count = counts.get(list.abstract) ?? new Map<number, number>();
      counts.set(list.abstract, count);
      if (!started.has(list)) {
        started.add(list);
        for (const [place, start] of list.starts) count.set(place, start - 1);
      }
      count.set(at, (count.get(at) ?? level.start - 1) + 1);
      for (const [place, { restarts }] of list.levels) {
        if (place > at && restarts) count.delete(place);
      }
      return shownNumber(list, level, count);
    },
  };
};

const levelOfStyle = ({ levels }: ListOf, style: string | null): number =>
  [...levels].find(([, level]) => style !== null && level.style === style)?.[0] ?? 0;

const WITHOUT_NUMBER = new Set(['bullet', 'none']);

const shownNumber = (
  { levels }: ListOf,
  { format, text, isLegal }: ListLevel,
  count: ReadonlyMap<number, number>,
): string => {
  if (WITHOUT_NUMBER.has(format)) return '';
  return text.replace(/%([1-9])/g, (_, digit: string) => {
    const place = Number(digit) - 1;
    const level = levels.get(place);
    const number = count.get(place) ?? level?.start ?? 1;
    return formatListNumber(isLegal ? 'decimal' : (level?.format ?? 'decimal'), number);
  });
};

const readNumberingLists = async (
  files: ArchiveFiles,
  path: string,
): Promise<Map<string, ListOf>> => {
  const abstracts = new Map<string, Map<number, ListLevel>>();
  const lists = new Map<string, ListOf>();
  let levels = new Map<number, ListLevel>();
  let level: ListLevel = createListLevel();
  let list: ListOf = { abstract: '', levels, starts: new Map() };
  let place = 0;
  const open = (name: string, attributes: XmlAttributes, parent: string): void => {
    const value = findAttribute(attributes, 'val') ?? '';
    if (name === 'abstractNum') {
      levels = new Map();
      abstracts.set(findAttribute(attributes, 'abstractNumId') ?? '', levels);
    } else if (name === 'num') {
      levels = new Map();
      list = { abstract: '', levels, starts: new Map() };
      lists.set(findAttribute(attributes, 'numId') ?? '', list);
    } else if (name === 'abstractNumId' && parent === 'num') {
      list.abstract = value;
      for (const [at, each] of abstracts.get(value) ?? []) levels.set(at, each);
    } else if (name === 'lvlOverride') place = Number(findAttribute(attributes, 'ilvl'));
    else if (name === 'startOverride') list.starts.set(place, Number(value));
    else if (name === 'lvl') {
      level = createListLevel();
      levels.set(Number(findAttribute(attributes, 'ilvl')), level);
    } else if (parent === 'lvl') takeOfLevel(level, name, value);
  };
  await walkFile(files, path, { open });
  return lists;
};

const createListLevel = (): ListLevel => ({
  ...{ start: 1, format: 'decimal', text: '', isLegal: false, restarts: true, style: null },
});

const takeOfLevel = (level: ListLevel, name: string, value: string): void => {
  if (name === 'start') level.start = Number(value);
  else if (name === 'numFmt') level.format = value;
  else if (name === 'lvlText') level.text = value;
  else if (name === 'isLgl') level.isLegal = value !== '0' && value !== 'false';
  else if (name === 'lvlRestart') level.restarts = value !== '0';
  else if (name === 'pStyle') level.style = value;
};
