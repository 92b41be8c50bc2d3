import type { XmlAttributes, XmlVisitor } from './xmlwalk.js';

type Edge = 'header' | 'footer';

export interface SheetEdges {
  /** Also reads the headers and footers of a sheet. */
  within(visitor: XmlVisitor): XmlVisitor;
  /** Returns the texts of the last sheet that no earlier sheet has, and forgets them. */
  take(edge: Edge): string;
}

const EDGE = /^(odd|even|first)(Header|Footer)$/;

/** Printed headers and footers (ECMA-376-1, 18.3.1.46). Sheets often repeat them. */
export const createSheetEdges = (): SheetEdges => {
  const known = { header: new Set<string>(), footer: new Set<string>() };
  const found: Record<Edge, string[]> = { header: [], footer: [] };
  const printed = new Set<string>();
  let code: string | null = null;
  const begin = (name: string, attributes: XmlAttributes, parent: string): void => {
    if (name === 'headerFooter') {
      printed.clear();
      printed.add('odd');
      if (isTrue(attributes.differentOddEven)) printed.add('even');
      if (isTrue(attributes.differentFirst)) printed.add('first');
    } else if (parent === 'headerFooter') code = '';
  };
  const end = (name: string): void => {
    const [, pages = '', edge = ''] = EDGE.exec(name) ?? [];
    const text = withoutCodes(code ?? '');
    code = null;
    if (text === '' || !printed.has(pages)) return;
    const key: Edge = edge === 'Header' ? 'header' : 'footer';
    if (!known[key].has(text)) found[key].push(text);
    known[key].add(text);
  };
  return {
    within: (visitor) => ({
      ...visitor,
      open: (name, attributes, parent) => {
        begin(name, attributes, parent);
        visitor.open?.(name, attributes, parent);
      },
      text: (piece) => {
        if (code === null) visitor.text?.(piece);
        else code += piece;
      },
      close: (name) => {
        if (code !== null) end(name);
        visitor.close?.(name);
      },
    }),
    take: (edge) => found[edge].splice(0).join('\n'),
  };
};

const isTrue = (value = ''): boolean => value === '1' || value === 'true';

/** `&L`, `&C` and `&R` begin a section. Other codes are formats, and fields such as `&P`. */
const CODE = /&(?:"[^"]*"|K(?:[\dA-Fa-f]{6}|\d\d[+-]\d{3})|[PN][+-]\d+|\d+|[\s\S])/g;

/** Stands for the fields `&P` and `&N`. */
const PAGE_NUMBER = '\f';
/** `Page 1 of 3` without its numbers has two words. */
const PAGE_WORDS = 2;

const withoutCodes = (code: string): string =>
  code
    .replace(CODE, (sign) => {
      if (sign === '&&') return '&';
      if (/^&[LCR]$/.test(sign)) return '\n';
      return /^&[PN]/.test(sign) ? PAGE_NUMBER : '';
    })
    .split('\n')
    .map((line) => {
      const text = line.replace(/\s+/g, ' ').trim();
      const isNumber = line.includes(PAGE_NUMBER) && text.split(' ').length <= PAGE_WORDS;
      return isNumber ? '' : text;
    })
    .filter(Boolean)
    .join('\n');
