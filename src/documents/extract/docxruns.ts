import type { BlockText } from './blocktext.js';
import { isPropertyOn, type WordStyle } from './docxstyles.js';
import type { Extraction } from './job.js';
import { findSymbol, replaceCheckBoxes, TICKED, UNTICKED } from './symbols.js';
import { findAttribute, type XmlAttributes, type XmlVisitor } from './xmlwalk.js';

const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ['tab', '\t'],
  ['ptab', '\t'],
  ['br', '\n'],
  ['cr', '\n'],
  ['noBreakHyphen', '-'],
]);
const MARKS = new Set(['footnoteRef', 'endnoteRef']);

/** Runs: ECMA-376-1, 17.3.2. */
export interface RunText extends Required<Pick<XmlVisitor, 'open' | 'text' | 'close'>> {
  hiddenChars(): number;
}

export const createRunText = (
  blocks: BlockText,
  styles: ReadonlyMap<string, WordStyle>,
): RunText => {
  const fields = createFields();
  const hidden: boolean[] = [];
  let isText = false;
  let isOfMark = false;
  let isAfterMark = false;
  let hiddenChars = 0;
  const add = (text: string): void => {
    if (hidden.at(-1)) {
      hiddenChars += text.length;
      return;
    }
    const piece = isAfterMark ? text.trimStart() : text;
    if (piece !== '') isAfterMark = false;
    blocks.add(piece);
  };
  const hide = (isHidden: boolean): void => {
    if (hidden.length > 0) hidden[hidden.length - 1] = isHidden;
  };
  const isHiddenStyle = (attributes: XmlAttributes): boolean =>
    styles.get(findAttribute(attributes, 'val') ?? '')?.isHidden ?? false;

  return {
    hiddenChars: () => hiddenChars,
    open: (name, attributes, parent) => {
      if (name === 'p') hidden.push(false);
      else if (name === 'r') hidden.push(hidden.at(-1) ?? false);
      else if (name === 'pPr') isOfMark = true;
      else if (name === 'pStyle') hide(isHiddenStyle(attributes));
      else if (name === 'rStyle' && !isOfMark) hide(hidden.at(-1) || isHiddenStyle(attributes));
      else if (name === 'vanish' && !isOfMark) hide(isPropertyOn(attributes));
      else if (name === 't') isText = true;
      else if (MARKS.has(name)) isAfterMark = true;
      else if (name === 'sym') add(symbolIn(attributes));
      else if (parent === 'r') add(CHARACTERS.get(name) ?? '');
      else fields.open(name, attributes, parent);
    },
    text: (text) => {
      if (isText) add(replaceCheckBoxes(text));
    },
    close: (name) => {
      if (name === 'p' || name === 'r') hidden.pop();
      else if (name === 'pPr') isOfMark = false;
      else if (name === 't') isText = false;
      else add(fields.close(name));
    },
  };
};

const symbolIn = (attributes: XmlAttributes): string =>
  findSymbol(findAttribute(attributes, 'font') ?? '', findAttribute(attributes, 'char') ?? '') ??
  '';

/** Legacy form fields (ECMA-376-1, 17.16), whose text is not stored. */
const createFields = () => {
  let isTicked = false;
  let chosen = 0;
  let entries: string[] = [];
  return {
    open: (name: string, attributes: XmlAttributes, parent: string): void => {
      const value = findAttribute(attributes, 'val') ?? '';
      if (name === 'checkBox' || name === 'ddList') {
        isTicked = false;
        chosen = 0;
        entries = [];
      } else if (parent === 'checkBox' && (name === 'default' || name === 'checked')) {
        isTicked = isPropertyOn(attributes);
      } else if (parent === 'ddList' && (name === 'default' || name === 'result')) {
        chosen = Number(value);
      } else if (parent === 'ddList' && name === 'listEntry') entries.push(value);
    },
    /** Returns the text of the field that has ended. */
    close: (name: string): string => {
      if (name === 'checkBox') return isTicked ? TICKED : UNTICKED;
      return name === 'ddList' ? (entries[chosen] ?? '') : '';
    },
  };
};

export const noteHidden = ({ note }: Extraction, chars: number): void => {
  if (chars > 0) note(`${chars} characters of hidden text are left out.`);
};
