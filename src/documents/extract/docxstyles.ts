import type { ArchiveFiles } from './archive.js';
import { walkFile } from './openpackage.js';
import { findAttribute, type XmlAttributes } from './xmlwalk.js';

/** Maximum depth of style inheritance. */
const MAX_BASES = 20;

export interface WordStyle {
  /** Heading level from 1, or null. */
  level: number | null;
  list: string | null;
  listLevel: number | null;
  isHidden: boolean;
}

interface DeclaredWordStyle extends Partial<WordStyle> {
  basedOn?: string;
}

/** Resolves inherited properties. */
export const readStyles = async (
  files: ArchiveFiles,
  path: string,
): Promise<Map<string, WordStyle>> => {
  const declared = await readWordStyles(files, path);
  const styles = new Map<string, WordStyle>();
  for (const [id, first] of declared) {
    let whole: DeclaredWordStyle = {};
    let style: DeclaredWordStyle | undefined = first;
    for (let bases = 0; style && bases < MAX_BASES; bases++) {
      whole = { ...style, ...whole };
      style = declared.get(style.basedOn ?? '');
    }
    const { level = null, list = null, listLevel = null, isHidden = false } = whole;
    styles.set(id, { level, list, listLevel, isHidden });
  }
  return styles;
};

const readWordStyles = async (
  files: ArchiveFiles,
  path: string,
): Promise<Map<string, DeclaredWordStyle>> => {
  const styles = new Map<string, DeclaredWordStyle>();
  let style: DeclaredWordStyle = {};
  const open = (name: string, attributes: XmlAttributes, parent: string): void => {
    const value = findAttribute(attributes, 'val') ?? '';
    if (name === 'style') {
      style = {};
      styles.set(findAttribute(attributes, 'styleId') ?? '', style);
    } else if (parent === 'style' && name === 'basedOn') style.basedOn = value;
    else if (parent === 'style' && name === 'name') {
      const number = /^heading ([1-9])$/i.exec(value)?.[1];
      if (number !== undefined) style.level = Number(number);
    } else if (parent === 'pPr' && name === 'outlineLvl') style.level ??= outlineLevel(value);
    else if (parent === 'numPr' && name === 'numId') style.list = value;
    else if (parent === 'numPr' && name === 'ilvl') style.listLevel = Number(value);
    else if (parent === 'rPr' && name === 'vanish') style.isHidden = isPropertyOn(attributes);
  };
  await walkFile(files, path, { open });
  return styles;
};

/** Outline level 9 is body text. */
export const outlineLevel = (outline: string): number | null =>
  /^[0-8]$/.test(outline) ? Number(outline) + 1 : null;

/** A property without a value is on (ECMA-376-1, ST_OnOff). */
export const isPropertyOn = (attributes: XmlAttributes): boolean =>
  !/^(0|false|off)$/.test(findAttribute(attributes, 'val') ?? '');
