import type { ArchiveFiles } from './archive.js';
import { walkFile } from './openpackage.js';
import { attributeOf, type XmlAttributes } from './xmlwalk.js';

/** Ours: the most styles of which one may be based on the other. */
const MAX_BASES = 20;

/** The properties that a style gives to its paragraphs or characters. */
export interface WordStyle {
  /** The level of its headings from 1; null if it is of no heading. */
  level: number | null;
  /** The list that its paragraphs are of, and their level from 0; null: none, and not said. */
  list: string | null;
  listLevel: number | null;
  isHidden: boolean;
}

interface GivenStyle extends Partial<WordStyle> {
  basedOn?: string;
}

/** Returns the styles of a Word document by their ids, each with what its bases say. */
export const readStyles = async (
  files: ArchiveFiles,
  path: string,
): Promise<Map<string, WordStyle>> => {
  const given = await stylesOf(files, path);
  const styles = new Map<string, WordStyle>();
  for (const [id, first] of given) {
    let whole: GivenStyle = {};
    let style: GivenStyle | undefined = first;
    for (let bases = 0; style && bases < MAX_BASES; bases++) {
      whole = { ...style, ...whole };
      style = given.get(style.basedOn ?? '');
    }
    const { level = null, list = null, listLevel = null, isHidden = false } = whole;
    styles.set(id, { level, list, listLevel, isHidden });
  }
  return styles;
};

const stylesOf = async (files: ArchiveFiles, path: string): Promise<Map<string, GivenStyle>> => {
  const styles = new Map<string, GivenStyle>();
  let style: GivenStyle = {};
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
    else if (parent === 'numPr' && name === 'numId') style.list = value;
    else if (parent === 'numPr' && name === 'ilvl') style.listLevel = Number(value);
    else if (parent === 'rPr' && name === 'vanish') style.isHidden = isOn(attributes);
  };
  await walkFile(files, path, { open });
  return styles;
};

/** Returns the level of a heading from 1 by that of an outline from 0; null for that of text, 9. */
export const outlineLevel = (outline: string): number | null =>
  /^[0-8]$/.test(outline) ? Number(outline) + 1 : null;

/** True for a property that is there, unless it says that it is not (ECMA-376-1, ST_OnOff). */
export const isOn = (attributes: XmlAttributes): boolean =>
  !/^(0|false|off)$/.test(attributeOf(attributes, 'val') ?? '');
