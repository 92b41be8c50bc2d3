import type { ArchiveFiles } from './archive.js';
import { walkFile } from './openpackage.js';
import { attributeOf, type XmlAttributes } from './xmlwalk.js';

/** Ours: the most styles of which one may be based on the other. */
const MOST_BASES = 20;

interface ParagraphStyle {
  /** The level of its headings from 1; null if it is of no heading, undefined if it does not say. */
  level?: number | null;
  basedOn?: string;
}

/** Returns the levels of the headings of a Word document by their styles, from 1. */
export const headingLevels = async (
  files: ArchiveFiles,
  path: string,
): Promise<Map<string, number | null>> => {
  const styles = await stylesOf(files, path);
  const levels = new Map<string, number | null>();
  for (const [id, first] of styles) {
    let style: ParagraphStyle | undefined = first;
    for (let bases = 0; style && style.level === undefined && bases < MOST_BASES; bases++) {
      style = styles.get(style.basedOn ?? '');
    }
    levels.set(id, style?.level ?? null);
  }
  return levels;
};

const stylesOf = async (
  files: ArchiveFiles,
  path: string,
): Promise<Map<string, ParagraphStyle>> => {
  const styles = new Map<string, ParagraphStyle>();
  let style: ParagraphStyle = {};
  const open = (name: string, attributes: XmlAttributes, parent: string): void => {
    const value = attributeOf(attributes, 'val') ?? '';
    if (name === 'style') {
      style = {};
      styles.set(attributeOf(attributes, 'styleId') ?? '', style);
    } else if (parent === 'style' && name === 'basedOn') style.basedOn = value;
    else if (parent === 'style' && name === 'name') {
      const number = /^heading ([1-9])$/i.exec(value)?.[1];
      if (number !== undefined) style.level = Number(number);
    } else if (parent === 'pPr' && name === 'outlineLvl') style.level ??= outlineLevel(value);
  };
  await walkFile(files, path, { open });
  return styles;
};

/** Returns the level of a heading from 1 by that of an outline from 0; null for that of text, 9. */
export const outlineLevel = (outline: string): number | null =>
  /^[0-8]$/.test(outline) ? Number(outline) + 1 : null;
